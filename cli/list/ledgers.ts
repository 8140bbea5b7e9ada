/** The number of wallets that are checked by one call. */
const pageLength = 20;

interface Checked {
  walletId: string;
  /** What is wrong with the ledger. */
  findings: readonly unknown[];
}

/** Describes how many ledgers are in order, such as `2 of 40 ledgers are not in order`. */
export function summarizeLedgers(reports: readonly Checked[]): { areInOrder: boolean; summary: string } {
  const bad = reports.filter(({ findings }) => findings.length > 0).length;
  const summary =
    bad === 0
      ? `${reports.length} ledgers are in order`
      : `${bad} of ${reports.length} ledgers are not in order`;
  return { areInOrder: bad === 0, summary };
}

type Wallets = { partnerId: string } | { limit: number; after?: string | undefined };

/** Checks the ledgers of a partner, or those of all partners, page by page. Calls `onProgress` after each page but the last. */
export async function checkLedgers<Report extends Checked>(
  partnerId: string | undefined,
  checkPage: (wallets: Wallets) => Promise<Report[]>,
  onProgress: (sentence: string) => void,
): Promise<Report[]> {
  if (partnerId) return checkPage({ partnerId });
  const reports: Report[] = [];
  for (;;) {
    const after = reports.at(-1)?.walletId;
    const page = await checkPage({ limit: pageLength, after });
    reports.push(...page);
    if (page.length < pageLength) return reports;
    onProgress(`${reports.length} wallets checked…`);
  }
}
