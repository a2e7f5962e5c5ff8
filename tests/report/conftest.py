"""The browser that several tests of pages share."""

import shutil

import pytest

FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def started_browser(tmp_path_factory):
    """One browser for all modules: its start takes a second of a processor."""
    from selenium import webdriver

    browser, helper = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(helper))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def driver(started_browser):
    """The browser without what an earlier module chose or stored."""
    started_browser.get("about:blank")
    started_browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    # a headless window need not have the focus, without which no element is shown as focused
    started_browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    started_browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    started_browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
    started_browser.get_log("browser")
    return started_browser
