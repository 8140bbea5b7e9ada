import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Without comments and spaces, it loads in a third of the time. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Returns axe's findings for the present page, by WCAG 2.2 AA and axe's best practices. The source of axe is
 * evaluated by the debugger, because the content security policy allows no script.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // It has half a megabyte, so it is loaded only once per document.
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(`${source};0`);
  const options = JSON.stringify({
    runOnly: { type: 'tag', values: standards },
    resultTypes: ['violations'],
  });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}
