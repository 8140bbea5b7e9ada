import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describe } from 'vitest';
import { within } from '../harness/time-limits.ts';

// The shell is the same engine without windows: its tests need a quarter less processor time.
const shell = '/usr/bin/chromium-headless-shell';
const executablePath = process.env['SVC_CHROMIUM'] ?? [shell, '/usr/bin/chromium'].find(existsSync) ?? shell;
const installed = existsSync(executablePath);
const artefacts = fileURLToPath(new URL('../../artefacts/screenshots/', import.meta.url));

/** `describe` for tests that need a browser. If none is installed, the tests are skipped with a message. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (installed) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`\nSkipped, because there is no browser at ${executablePath}: ${name}.
Install it (apt-get install chromium-headless-shell) or name another one with SVC_CHROMIUM.\n`);
  describe.skip(name, tests);
}

export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage', '--disable-gpu', ...args] });
}

/** A user with a separate browser. */
export interface Visitor {
  page: Page;
  /** Errors and warnings of the console, such as blocked content and failed scripts. */
  complaints: string[];
  /** The origins of all requests that pages sent. */
  asked: Set<string>;
  close(): Promise<void>;
}

export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(within(20_000));
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked = new Set<string>();
  context.on('console', (message) => {
    // The console reports the status of an error page, which the test expects.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status');
    if (['error', 'warning'].includes(message.type()) && !isStatus)
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('request', (request) => asked.add(new URL(request.url()).origin));
  return { page, complaints, asked, close: () => context.close() };
}

/** Stores a screenshot for manual review, if SVC_SCREENSHOTS is set. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env['SVC_SCREENSHOTS']) return;
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: `${artefacts}${name}.png`, fullPage: true });
}
