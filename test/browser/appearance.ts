import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from './axe.ts';
import { keepScreenshot } from './chromium.ts';

/** The widths and colour schemes in which pages are checked. */
const everywhere = [
  { name: 'light', width: 1280, colorScheme: 'light', byAxe: true },
  { name: 'dark', width: 1280, colorScheme: 'dark', byAxe: false },
  { name: 'narrow', width: 320, colorScheme: 'light', byAxe: false },
  // Axe checks two of the combinations, so that it sees each width and each colour scheme once.
  { name: 'narrow-dark', width: 320, colorScheme: 'dark', byAxe: true },
] as const;

const all = everywhere.map((each) => each.name as string);

const fits = 'document.documentElement.scrollWidth <= innerWidth';
/** The bytes of the page and of all that it loads, without compression. */
const weight = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`;
const lightest = 32_000;

/** Checks the size, the accessibility and the width of a page, in each appearance, and stores screenshots. */
export async function expectReadable(
  page: Page,
  name: string,
  where: readonly string[] = all,
): Promise<void> {
  expect(await page.evaluate(weight), `${name} in bytes`).toBeLessThan(lightest);
  // A page has the same structure and colours in all languages that are written from left to right.
  const isForAxe = ['en', 'ar'].includes(await page.evaluate<string>('document.documentElement.lang'));
  const chosen = everywhere.filter((each) => where.includes(each.name));
  for (const { name: place, width, colorScheme, byAxe } of chosen) {
    // Animations are off, because axe cannot check a colour during a transition.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    await keepScreenshot(page, `${name}-${place}`);
    if (isForAxe && (byAxe || where !== all))
      expect(await accessibilityFaults(page), `${name} ${place}`).toEqual([]);
    expect(await page.evaluate(fits), `${name} ${place}`).toBe(true);
  }
  // WCAG 1.4.4: the page must also fit with text at double size, in a wide window.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  expect(await page.evaluate(fits), `${name} zoomed`).toBe(true);
  await page.evaluate("document.documentElement.style.fontSize = ''");
}
