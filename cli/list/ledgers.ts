/** The number of wallets that are checked by one call. */
const pageLength = 20;

interface Checked {
  walletId: string;
  findings: readonly unknown[];
}

/** Checks the ledgers of all wallets, page by page. Calls `onProgress` after each page but the last. */
export async function checkAllLedgers<Report extends Checked>(
  checkPage: (page: { limit: number; after?: string | undefined }) => Promise<readonly Report[]>,
  onProgress: (sentence: string) => void,
): Promise<Report[]> {
  const reports: Report[] = [];
  for (;;) {
    const after = reports.at(-1)?.walletId;
    const page = await checkPage({ limit: pageLength, after });
    reports.push(...page);
    if (page.length < pageLength) return reports;
    onProgress(`${reports.length} wallets checked…`);
  }
}
