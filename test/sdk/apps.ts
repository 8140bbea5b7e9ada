import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createBrowser, passFlow } from '../journey/browser.ts';

/** Writes a file that a page asks its reader to save. */
export function save(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}

const download = fileURLToPath(new URL('../../dist/site/docs/downloads/svc-sdk-0.8.0.tgz', import.meta.url));

/** Installs the package that partners load from the site into `node_modules` of a folder. */
export function installPackage(folder: string): void {
  const place = join(folder, 'node_modules/@svc');
  mkdirSync(place, { recursive: true });
  expect(spawnSync('tar', ['-xzf', download, '-C', place]).status).toBe(0);
  renameSync(join(place, 'package'), join(place, 'sdk'));
}

export interface App {
  port: number;
  /** The path that redirects the user to the service; `/` by default. */
  begin?: string | undefined;
  /** Whether the user has to press the page's only button. */
  asksFirst?: boolean | undefined;
  /** Whether its library hides the error in the redirect. */
  hidesReason?: boolean | undefined;
}

/**
 * Opens an application at `http://localhost:<port>` as its user, and verifies a sandbox user.
 * @returns the redirect to the application, and a call that opens it
 */
export async function openApp(app: App, baseUrl: string, person: string) {
  const browser = createBrowser(`http://localhost:${app.port}`);
  const first = await browser.open(`http://localhost:${app.port}${app.begin ?? '/'}`);
  const opened = app.asksFirst ? await browser.press(first, '=') : first;
  expect(opened.url.startsWith(`${baseUrl}/verify/start`), `${opened.url}: ${opened.html}`).toBe(true);
  const end = await passFlow(createBrowser(baseUrl), opened.url, person);
  return { end, page: () => browser.open(end.href) };
}

/** Checks that an application shows claims to its own visitor only, and only once. */
export async function expectApp(app: App, baseUrl: string): Promise<void> {
  const { end, page } = await openApp(app, baseUrl, 'adult');
  const foreign = await fetch(end, { redirect: 'manual' });
  expect(foreign.status, await foreign.text()).toBeGreaterThanOrEqual(300);
  const shown = await page();
  expect(shown.html, `status ${shown.status}`).toMatch(/"age_18_plus": ?true/);
  const again = await page();
  expect(again.html).not.toContain('"age_18_plus"');
  const mixed = await openApp(app, baseUrl, 'adult');
  mixed.end.searchParams.set('iss', 'https://evil.example');
  expect((await mixed.page()).html).not.toContain('"age_18_plus"');
  const rejected = await (await openApp(app, baseUrl, 'rejected')).page();
  expect(rejected.html).not.toContain('"age_18_plus"');
  if (!app.hidesReason) expect(rejected.html).toContain('verification_failed');
}
