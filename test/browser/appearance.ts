import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from './axe.ts';
import { keepScreenshot } from './chromium.ts';

/** Changes the window and the colour scheme without a reload, so that the style sheets apply again. */
const everywhere = [
  { name: 'light', width: 1280, colorScheme: 'light', byAxe: true },
  { name: 'dark', width: 1280, colorScheme: 'dark', byAxe: false },
  { name: 'narrow', width: 320, colorScheme: 'light', byAxe: false },
  // Combinations that axe checks: each width and each scheme once.
  { name: 'narrow-dark', width: 320, colorScheme: 'dark', byAxe: true },
] as const;

const all = everywhere.map((each) => each.name as string);

const fits = 'document.documentElement.scrollWidth <= innerWidth';
/** Bytes of the page and all that it loads, before any compression. */
const weight = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`;
const lightest = 32_000;

/** Checks a page at each width and colour scheme, and keeps a picture of each. */
export async function expectReadable(
  page: Page,
  name: string,
  where: readonly string[] = all,
): Promise<void> {
  expect(await page.evaluate(weight), `${name} in bytes`).toBeLessThan(lightest);
  const chosen = everywhere.filter((each) => where.includes(each.name));
  for (const { name: place, width, colorScheme, byAxe } of chosen) {
    // Without animations, because axe cannot check a colour during a transition.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    await keepScreenshot(page, `${name}-${place}`);
    if (byAxe || where !== all) expect(await accessibilityFaults(page), `${name} ${place}`).toEqual([]);
    expect(await page.evaluate(fits), `${name} ${place}`).toBe(true);
  }
  // WCAG 1.4.4: text at double size, in a wide window.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  expect(await page.evaluate(fits), `${name} zoomed`).toBe(true);
  await page.evaluate("document.documentElement.style.fontSize = ''");
}
