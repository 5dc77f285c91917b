// A browser tab that records everything that goes wrong in it.
import axe from 'axe-core';

export const SIZES = [{width: 1440, height: 900}, {width: 1024, height: 768}, {width: 360, height: 740, isMobile: true, hasTouch: true}];
export const SCHEMES = ['light', 'dark'];

export class Tab {
  // `wrong`: errors and warnings of the page, and its requests to other servers.
  static async open(browser, server, size = SIZES[0], scheme = 'light') {
    const tab = new Tab();
    Object.assign(tab, {server, size, scheme, wrong: []});
    tab.context = await browser.createBrowserContext();
    tab.page = await tab.context.newPage();
    await tab.page.setViewport({deviceScaleFactor: 1, ...size});
    await tab.page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
    tab.page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) tab.wrong.push(`console: ${message.text()}`);
    });
    tab.page.on('pageerror', (error) => tab.wrong.push(`error: ${error.stack}`));
    tab.page.on('dialog', async (dialog) => {
      tab.wrong.push(`a dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    tab.page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== server.url('')) tab.wrong.push(`asked of another: ${url}`);
    });
    return tab;
  }

  async go(where) {
    await this.page.goto(this.server.url(where));
    await this.page.waitForSelector('main h1');
  }

  close() { return this.context.close(); }

  text(selector) { return this.page.$eval(selector, (element) => element.textContent); }

  // Whether the first such element is completely visible without scrolling, and nothing covers its middle or corners.
  isSeen(selector) {
    return this.page.$eval(selector, (element) => {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth) return false;
      const inside = 1;
      const [left, right, top, bottom] = [box.left + inside, box.right - inside, box.top + inside, box.bottom - inside];
      return [[(left + right) / 2, (top + bottom) / 2], [left, top], [right, top], [left, bottom], [right, bottom]].every(([x, y]) => {
        const there = document.elementFromPoint(x, y);
        return there !== null && (element.contains(there) || there.contains(element));
      });
    });
  }

  scrollsSideways() {
    return this.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  }

  // In ms since the request. The browser reports it some time later.
  async firstPaint() {
    const noted = await this.waitFor(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    return noted.jsonValue();
  }

  // The problems that axe calls serious or critical, by rule and element.
  async violations() {
    await this.page.evaluate(axe.source);
    const {violations} = await this.page.evaluate(() => axe.run(document));
    return violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map((node) => node.html).join(' ')}`);
  }

  unfoldAll() {
    return this.page.$$eval('details', (folds) => folds.forEach((fold) => { fold.open = true; }));
  }

  // Presses Tab until the element has the focus.
  async tabTo(selector, most = 80) {
    for (let i = 0; i < most; ++i) {
      await this.page.keyboard.press('Tab');
      if (await this.page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    }
    throw new Error(`Tab does not lead to ${selector}`);
  }

  waitFor(what, ...values) { return this.page.waitForFunction(what, {timeout: 20_000}, ...values); }
}
