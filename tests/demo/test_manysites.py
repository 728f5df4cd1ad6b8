"""The small web of several sites, and the proxy that serves it."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import lxml.html
import pytest

from twinlink.demo.manysites import ANSWERS, DEAD, FAILS, REFUSES, make_web
from twinlink.demo.server import serve_web
from twinlink.language.identify import identify_text
from twinlink.urls import site_of

WEB = make_web()
SITES = {site.host: site for site in WEB.sites}


def links(html):
    return [link for _, _, link, _ in lxml.html.document_fromstring(html).iterlinks()]


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def test_one_seed_one_web():
    assert make_web() == WEB
    assert make_web(1) != WEB
    assert make_web(1).bilingual == WEB.bilingual


def test_every_host_is_a_site_that_nobody_owns():
    assert all(site_of(f"http://{host}/") == host and host.endswith(".example") for host in SITES)
    assert {site.state for site in WEB.sites} == {ANSWERS, REFUSES, FAILS, DEAD}


def test_all_links_within_the_web_lead_somewhere():
    for site in WEB.sites:
        for path, html in site.pages.items():
            for link in links(html):
                parts = urlsplit(link)
                target = SITES[parts.hostname] if parts.hostname else site
                inside = f"{parts.path}{f'?{parts.query}' if parts.query else ''}"
                assert target.state != ANSWERS or inside in target.pages, f"{site.host}{path} → {link}"


def test_bilingual_sites_are_in_two_languages_and_the_others_in_one():
    for site in WEB.sites:
        told = {identify_text(lxml.html.document_fromstring(html).text_content())[0] for html in site.pages.values()}
        if site.state == ANSWERS:
            assert {lang.partition("-")[0] for lang in told} == ({"en", "zh"} if site.bilingual else {"en"}), site.host


def test_bilingual_sites_prefer_each_other():
    def share(sites):
        hosts = [urlsplit(link).hostname for site in sites for html in site.pages.values() for link in links(html)]
        outside = [host for host in hosts if host and host not in ("search.example", "weather.example")]
        return sum(host in WEB.bilingual for host in outside) / len(outside)

    bilingual = [site for site in WEB.sites if site.bilingual]
    others = [site for site in WEB.sites if not site.bilingual]
    assert share(bilingual) > 0.6
    assert share(others) < 0.4


def test_the_proxy_answers_for_all_hosts_and_is_forgotten_afterwards(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("http_proxy", raising=False)
    with serve_web(WEB) as address:
        assert os.environ["http_proxy"] == address
        for host in ("harbour.example", "transit.example"):
            for path, html in SITES[host].pages.items():
                assert get(f"http://{host}{path}") == html
        assert get("http://closed.example/robots.txt").splitlines()[1] == "Disallow: /"
        assert get("http://harbour.example/robots.txt").splitlines()[1] == "Disallow:"
        for url, status in (("http://harbour.example/none.htm", 404), ("http://broken.example/", 403)):
            with pytest.raises(urllib.error.HTTPError) as told:
                get(url)
            assert told.value.code == status
            told.value.close()
        for url in ("http://gone.example/", "http://elsewhere.example/"):
            with pytest.raises((urllib.error.URLError, ConnectionError)):
                get(url)
    assert "http_proxy" not in os.environ
    assert os.environ["no_proxy"] == "*"
