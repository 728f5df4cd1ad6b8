/* Keys, focus and notices of the review. Every page works without this script, with plain links and forms. */
"use strict";
(() => {
  const root = document.documentElement;
  root.setAttribute("hx-boost:inherited", "true");
  root.classList.add("scripted");

  const LONGEST_LEAVE = 30000; // milliseconds, as for other requests
  let isBusy = false; // while a request is pending: a second key would label a pair that was not seen yet
  let isLeaving = false; // while a page is loaded that an answer has named
  let turnedBy = ""; // id of the link or form of the pending request
  let lastKey = "";

  const isTyping = (element) =>
    element.matches("select, textarea, input:not([type=radio]):not([type=checkbox])") || element.isContentEditable;
  const isShown = (element) => element.offsetParent !== null || element.getClientRects().length > 0;
  const keyed = (key) =>
    [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key.split(" ").includes(key) && isShown(each));

  document.addEventListener("keydown", (event) => {
    lastKey = event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") {
        event.preventDefault(); // else the browser would empty the search field
        event.target.blur();
      }
      return;
    }
    if (event.key === "Enter" && event.target.closest("a, button, summary, input")) return;
    const target = keyed(event.key);
    if (!target) return;
    event.preventDefault();
    if (isBusy || event.repeat) return;
    act(target);
  });

  function act(target) {
    if (target.matches("input")) {
      target.focus();
      target.select();
    } else if (target.getAttribute("href") === "#partner") {
      reveal(document.getElementById("partner"));
    } else target.click();
  }

  function reveal(element) {
    element.scrollIntoView({ block: "start" });
    (element.querySelector("a, button, input:not([type=hidden])") || element).focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens).showModal();
    const jump = event.target.closest('a[href="#partner"]');
    if (jump) {
      event.preventDefault();
      reveal(document.getElementById("partner"));
    }
  });

  /* Changes of the queue's filters apply at once. */
  document.addEventListener("change", (event) => {
    if (event.target.closest("form.filters")) event.target.form.requestSubmit();
  });

  /* Highlight both sides of a bead. */
  const light = (event, on) => {
    const bead = event.target.closest?.("[data-bead]");
    if (!bead) return;
    for (const each of document.querySelectorAll(`[data-bead="${bead.dataset.bead}"]`)) each.classList.toggle("lit", on);
  };
  document.addEventListener("mouseover", (event) => light(event, true));
  document.addEventListener("mouseout", (event) => light(event, false));

  /* A click into a frame would disable the keys, since scripts do not run there. Focus by Tab stays. */
  window.addEventListener("blur", () => {
    setTimeout(() => {
      const frame = document.activeElement;
      if (frame?.tagName === "IFRAME" && lastKey !== "Tab") frame.blur();
    });
  });

  /* Scroll the text to the heading, past the menus. */
  function begin() {
    const start = document.getElementById("start");
    const box = start?.closest(".scrolling");
    if (box) box.scrollTop = start.offsetTop - box.querySelector("table").offsetTop;
  }
  begin();

  /* Screen readers announce only later changes of a live region, so its content is inserted again. */
  function announceAgain() {
    const notices = document.getElementById("notices");
    const words = [...(notices?.childNodes || [])];
    if (!notices?.textContent.trim()) return;
    const height = notices.offsetHeight;
    notices.style.minHeight = `${height}px`; // avoids a jump while it is empty
    notices.replaceChildren();
    setTimeout(() => notices.append(...words), 60);
  }

  const isPageTurn = (event) => Boolean(event.detail?.ctx?.sourceElement?._htmx?.boosted);
  document.addEventListener("htmx:before:request", (event) => {
    if (!isPageTurn(event)) {
      if (isLeaving) event.preventDefault(); // the answer would name the page again, and its loading begin anew
      return;
    }
    isBusy = true;
    turnedBy = event.detail.ctx.sourceElement.id;
  });
  document.addEventListener("htmx:before:response", (event) => {
    if (!event.detail.ctx.hx?.redirect) return;
    isLeaving = true;
    setTimeout(() => (isLeaving = false), LONGEST_LEAVE); // the person may have stopped it
  });
  document.addEventListener("htmx:finally:request", (event) => {
    if (isPageTurn(event)) isBusy = false;
  });
  document.addEventListener("htmx:error", () => {
    isBusy = false;
    document.getElementById("offline")?.removeAttribute("hidden");
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const { ctx } = event.detail;
    if (ctx.target !== document.body) {
      document.getElementById("offline")?.setAttribute("hidden", "");
      return;
    }
    isBusy = false;
    begin();
    const tab = turnedBy.startsWith("to-") && document.getElementById(turnedBy);
    const heading = document.querySelector("#main h1") || document.getElementById("main");
    heading.setAttribute("tabindex", "-1");
    (tab || heading).focus({ preventScroll: true });
    announceAgain();
  });
})();
