import { readFileSync } from 'node:fs';
import type { AdminApi } from '../connection/client.ts';
import { type ConnectionSource, toFailure, usageError } from '../errors/failure.ts';
import { type Onboarded, onboardPartner, type Plan } from './partner.ts';

/** A row of the file. Amounts in the file are decimal dollars. */
interface Row {
  line: number;
  plan: Plan;
}

/** The result of a row. */
export interface RowResult {
  row: number;
  name: string;
  /** `exists`: a partner with this name existed before. `unfinished`: an earlier run did not finish this partner. */
  result: 'onboarded' | 'exists' | 'unfinished' | 'failed' | 'not tried';
  partnerId: string | null;
  detail: string | null;
  made?: Onboarded;
}

const pageLength = 500;

function readRows(path: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path === '-' ? 0 : path, 'utf8'));
    if (Array.isArray(parsed)) return parsed;
  } catch (error) {
    throw usageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  throw usageError(`${path} is not a JSON array of partners`);
}

/**
 * Reads the rows of a file and checks them: each row, duplicates among the rows, and with the server. Nothing is written.
 * @throws CommandError usage, with every faulty row
 */
export async function readPlans(api: AdminApi, path: string): Promise<Row[]> {
  const [{ PlannedPartner }, { z }, { parseDollars }] = await Promise.all([
    import('../../contracts/admin/partners.ts'),
    import('zod'),
    import('../flags/amounts.ts'),
  ]);
  const Dollars = z
    .string()
    .default('50.00')
    .transform((text) => parseDollars(text) ?? Number.NaN);
  const FileRow = z.strictObject({
    ...PlannedPartner.shape,
    amount: Dollars.pipe(PlannedPartner.shape.amount),
  });
  const faults: string[] = [];
  const rows: Row[] = [];
  const names = new Map<string, number>();
  for (const [index, value] of readRows(path).entries()) {
    const line = index + 1;
    const { success, data, error } = FileRow.safeParse(value);
    const issues = success
      ? []
      : error.issues.map(({ path: at, message }) => `${at.join('.') || 'row'}: ${message}`);
    const twin = success ? names.get(data.name) : undefined;
    if (twin !== undefined) issues.push(`name: ${data?.name} is row ${twin} already`);
    if (success) names.set(data.name, twin ?? line);
    faults.push(...issues.map((issue) => `row ${line}: ${issue}`));
    if (success) rows.push({ line, plan: data });
  }
  for (const { line, plan } of rows)
    await api.partners.check.query(plan).catch((error: unknown) => {
      const { code, message } = toFailure(error, { url: 'the server' });
      if (code === 'unreachable') throw error;
      faults.push(`row ${line}: ${message}`);
    });
  if (faults.length > 0)
    throw usageError(`${path}: ${faults.length} faults; nothing was done`, faults.join('\n'));
  if (rows.length === 0) throw usageError(`${path} has no partners`);
  return rows;
}

/** Returns the existing partners by name. If several have the same name, the newest is returned. */
async function partnersByName(api: AdminApi) {
  const known = new Map<string, { id: string; status: string }>();
  for (let after: string | undefined; ; ) {
    const page = await api.partners.list.query({ limit: pageLength, ...(after && { after }) });
    for (const { id, name, status } of page) if (!known.has(name)) known.set(name, { id, status });
    if (page.length < pageLength) return known;
    after = page.at(-1)?.id;
  }
}

interface Callbacks {
  /** Called before a row is onboarded. */
  begin: (row: Row) => void;
  /** Called with each partner as soon as it is created, because its secrets are shown only then. */
  keep: (made: Onboarded) => void;
  source: ConnectionSource;
}

/** Onboards each row whose name no partner has. A failed row does not stop the others, but an unreachable server does. */
export async function onboardRows(
  api: AdminApi,
  rows: readonly Row[],
  { begin, keep, source }: Callbacks,
): Promise<RowResult[]> {
  const known = await partnersByName(api);
  const results: RowResult[] = [];
  let gone: string | undefined;
  for (const row of rows) {
    const { name } = row.plan;
    const found = known.get(name);
    const about = { row: row.line, name, partnerId: found?.id ?? null, detail: null };
    if (gone !== undefined) results.push({ ...about, result: 'not tried', detail: gone });
    else if (found?.status === 'pending')
      results.push({ ...about, result: 'unfinished', detail: 'pending: an earlier run did not finish it' });
    else if (found) results.push({ ...about, result: 'exists' });
    else {
      try {
        begin(row);
        const made = await onboardPartner(api, row.plan);
        keep(made);
        results.push({ ...about, result: 'onboarded', partnerId: made.partnerId, made });
      } catch (error) {
        const { code, message } = toFailure(error, source);
        if (code === 'unreachable') gone = message;
        results.push({ ...about, result: 'failed', detail: message });
      }
    }
  }
  return results;
}

/** Whether every partner of the file exists now, created by this run or an earlier one. */
export function allThere(results: readonly RowResult[]): boolean {
  return results.every(({ result }) => result === 'onboarded' || result === 'exists');
}

/** @throws CommandError if flags of a single partner are combined with `--from` */
export function refusePartnerFlags(given: Readonly<Record<string, unknown>>): void {
  const combined = Object.entries(given).filter(([, value]) => value !== undefined);
  if (combined.length > 0)
    throw usageError(`--from has all that is needed; leave out ${combined.map(([name]) => name).join(', ')}`);
}
