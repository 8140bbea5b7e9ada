/** What partners are called, by their ids; those that do not exist are left out. */
export type PartnerNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Rows with the name of their partner; null for a row without one, and for a partner that does not exist. */
export async function withPartnerName<Row extends { partnerId: string | null }>(
  rows: readonly Row[],
  partnerNames: PartnerNames,
): Promise<(Row & { partnerName: string | null })[]> {
  const names = await partnerNames([...new Set(rows.flatMap(({ partnerId }) => partnerId ?? []))]);
  return rows.map((row) => ({ ...row, partnerName: names.get(row.partnerId ?? '') ?? null }));
}
