/** Reads the names of partners by their ids. Partners that do not exist are left out. */
export type PartnerNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Adds the name of the partner to each row: null without a partner, or if the partner does not exist. */
export async function withPartnerName<Row extends { partnerId: string | null }>(
  rows: readonly Row[],
  partnerNames: PartnerNames,
): Promise<(Row & { partnerName: string | null })[]> {
  const names = await partnerNames([...new Set(rows.flatMap(({ partnerId }) => partnerId ?? []))]);
  return rows.map((row) => ({ ...row, partnerName: names.get(row.partnerId ?? '') ?? null }));
}
