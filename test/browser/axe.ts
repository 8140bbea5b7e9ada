import axe from 'axe-core';
import type { Page } from 'playwright-core';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * What axe finds wrong with the page as it is now, one line a finding; WCAG 2.2 AA and axe's best practices.
 * Its source is evaluated from outside: the page's content security policy holds, and admits no script.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Half a megabyte: a document that has it already keeps it.
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(`${axe.source};0`);
  const options = JSON.stringify({
    runOnly: { type: 'tag', values: standards },
    resultTypes: ['violations'],
  });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}
