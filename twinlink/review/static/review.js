/* Keys, focus and notices of the review. Every page works without it, as plain links and forms. */
"use strict";
(() => {
  const root = document.documentElement;
  root.setAttribute("hx-boost:inherited", "true");
  root.classList.add("scripted");

  let isBusy = false; // while a form or link is on its way: a second key would judge a pair not seen yet
  let turnedBy = ""; // id of the link or form that the page on its way was asked for with
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
        event.preventDefault(); // a search field would be emptied, and what was found would go
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

  /* A choice in the filters of the queue shows at once. */
  document.addEventListener("change", (event) => {
    if (event.target.closest("form.filters")) event.target.form.requestSubmit();
  });

  /* The two halves of a bead light up together. */
  const light = (event, on) => {
    const bead = event.target.closest?.("[data-bead]");
    if (!bead) return;
    for (const each of document.querySelectorAll(`[data-bead="${bead.dataset.bead}"]`)) each.classList.toggle("lit", on);
  };
  document.addEventListener("mouseover", (event) => light(event, true));
  document.addEventListener("mouseout", (event) => light(event, false));

  /* A click into a page's frame would take the keys away: scripts do not run there. Who came by Tab may stay. */
  window.addEventListener("blur", () => {
    setTimeout(() => {
      const frame = document.activeElement;
      if (frame?.tagName === "IFRAME" && lastKey !== "Tab") frame.blur();
    });
  });

  /* The text begins at the heading; menus are above it. */
  function begin() {
    const start = document.getElementById("start");
    const box = start?.closest(".scrolling");
    if (box) box.scrollTop = start.offsetTop - box.querySelector("table").offsetTop;
  }
  begin();

  /* What a live region held when it came is not read aloud; what comes into it afterwards is. */
  function announceAgain() {
    const notices = document.getElementById("notices");
    const words = [...(notices?.childNodes || [])];
    if (!notices?.textContent.trim()) return;
    const height = notices.offsetHeight;
    notices.style.minHeight = `${height}px`; // set by script: no jump while it is empty
    notices.replaceChildren();
    setTimeout(() => notices.append(...words), 60);
  }

  const isPageTurn = (event) => Boolean(event.detail?.ctx?.sourceElement?._htmx?.boosted);
  document.addEventListener("htmx:before:request", (event) => {
    if (!isPageTurn(event)) return;
    isBusy = true;
    turnedBy = event.detail.ctx.sourceElement.id;
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
