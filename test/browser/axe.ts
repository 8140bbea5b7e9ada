import axe from 'axe-core';
import type { Page } from 'playwright-core';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Returns axe's findings for the present page, by WCAG 2.2 AA and axe's best practices. The source of axe is
 * evaluated by the debugger, because the content security policy allows no script.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The source of axe has half a megabyte, so it is loaded only once per document.
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
