import { unifyForms } from '../../contracts/input-text.ts';
import type { AdminApi } from '../connection/client.ts';
import { type ConnectionSource, exitOf, exits, toFailure, usageError } from '../errors/failure.ts';
import { readInputFile, textOf } from '../flags/input-file.ts';
import { readAll } from '../list/pages.ts';
import { type Onboarded, onboardPartner, type Plan } from './partner.ts';

/** A valid row of the file. `line` is its number, counted from 1. */
interface Row {
  line: number;
  plan: Plan;
}

export interface RowResult {
  row: number;
  name: string;
  /** `exists`: a partner with this name existed before. `unfinished`: an earlier run did not finish this partner. */
  result: 'onboarded' | 'exists' | 'unfinished' | 'failed' | 'not tried';
  partnerId: string | null;
  detail: string | null;
  made?: Onboarded;
}

function readRows(path: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(textOf(readInputFile(path)));
    if (Array.isArray(parsed)) return parsed;
  } catch (error) {
    throw usageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  throw usageError(`${path} is not a JSON array of partners`);
}

/** Returns the schema of a row. Amounts in a file are decimal dollars; the schema converts them to cents. */
async function loadRowSchema() {
  const [{ PlannedPartner }, { z }, { parseDollars }] = await Promise.all([
    import('../../contracts/admin/partners.ts'),
    import('zod'),
    import('../../contracts/amounts.ts'),
  ]);
  const Dollars = z
    .string()
    // The smallest funding, as without --amount.
    .default('50.00')
    // The schema of the amount refuses NaN.
    .transform((text) => parseDollars(text) ?? Number.NaN);
  return z.strictObject({ ...PlannedPartner.shape, amount: Dollars.pipe(PlannedPartner.shape.amount) });
}

interface Fault {
  line: number;
  text: string;
}

/** Checks each row against the schema. @returns the valid rows, and the faults of the others */
async function parseRows(values: readonly unknown[]): Promise<{ rows: Row[]; faults: Fault[] }> {
  const RowSchema = await loadRowSchema();
  const faults: Fault[] = [];
  const rows: Row[] = [];
  for (const [index, value] of values.entries()) {
    const line = index + 1;
    const { success, data, error } = RowSchema.safeParse(value);
    if (success) rows.push({ line, plan: data });
    else
      for (const { path, message } of error.issues)
        faults.push({ line, text: `${path.join('.') || 'row'}: ${message}` });
  }
  return { rows, faults };
}

/** Returns a fault for each row that has the name of an earlier row. */
function findDuplicates(rows: readonly Row[]): Fault[] {
  const lineOfName = new Map<string, number>();
  return rows.flatMap(({ line, plan: { name } }) => {
    const earlierLine = lineOfName.get(name);
    lineOfName.set(name, earlierLine ?? line);
    return earlierLine === undefined ? [] : [{ line, text: `name: ${name} is row ${earlierLine} already` }];
  });
}

/** Checks each row with the server. @returns a fault for each row that the server would refuse */
async function checkWithServer(api: AdminApi, rows: readonly Row[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { line, plan } of rows)
    await api.partners.check.query(plan).catch((error: unknown) => {
      const failure = toFailure(error, { url: 'the server' });
      const exit = exitOf(failure);
      // Only a refusal of the values is a fault of the row. After any other error, such as a wrong token, no row can be checked.
      if (exit !== exits.usage && exit !== exits.refused) throw error;
      faults.push({ line, text: failure.message });
    });
  return faults;
}

/**
 * Reads the rows of a file and checks them: each row, duplicates among the rows, and with the server. Nothing is written.
 * @throws CommandError usage, with every faulty row
 */
export async function readPlans(api: AdminApi, path: string): Promise<Row[]> {
  const { rows, faults: schemaFaults } = await parseRows(readRows(path));
  const ownFaults = [...schemaFaults, ...findDuplicates(rows)].toSorted(
    (one, other) => one.line - other.line,
  );
  const faults = [...ownFaults, ...(await checkWithServer(api, rows))];
  if (faults.length > 0) {
    const sentences = faults.map(({ line, text }) => `row ${line}: ${text}`);
    throw usageError(`${path}: ${faults.length} faults; nothing was done`, sentences.join('\n'));
  }
  if (rows.length === 0) throw usageError(`${path} has no partners`);
  return rows;
}

/** Reads all existing partners, by name. Of those with the same name, keeps the newest that is not closed, else the newest. */
async function readPartnersByName(api: AdminApi): Promise<Map<string, ExistingPartner>> {
  const byName = new Map<string, ExistingPartner>();
  // The list begins with the newest.
  for (const { id, name: shownName, status } of await readAll((page) => api.partners.list.query(page))) {
    // The names of rows have this form. Stored names of older builds may have another one.
    const name = unifyForms(shownName);
    const isReplaced = byName.get(name)?.status === 'closed' && status !== 'closed';
    if (isReplaced || !byName.has(name)) byName.set(name, { id, status });
  }
  return byName;
}

interface Callbacks {
  /** Called before a row is onboarded. */
  onStart: (row: Row) => void;
  /** Called with each partner as soon as it is created, because its secrets are shown only then. */
  saveSecrets: (made: Onboarded) => void;
  source: ConnectionSource;
}

/** Onboards each row whose name no partner has. A failed row does not stop the others, but an unreachable server does. */
export async function onboardRows(
  api: AdminApi,
  rows: readonly Row[],
  callbacks: Callbacks,
): Promise<RowResult[]> {
  const partners = await readPartnersByName(api);
  const results: RowResult[] = [];
  /** Why the server cannot be reached. Undefined as long as it can. */
  let outage: string | undefined;
  for (const row of rows) {
    const partner = partners.get(row.plan.name);
    if (outage !== undefined)
      results.push({ ...resultOf(row, partner), result: 'not tried', detail: outage });
    else if (partner) results.push(describeExisting(row, partner));
    else {
      const attempt = await onboardRow(api, row, callbacks);
      results.push(attempt.result);
      outage = attempt.outage;
    }
  }
  return results;
}

interface ExistingPartner {
  id: string;
  status: string;
}

/** Returns the fields that all results of a row have. */
const resultOf = ({ line, plan }: Row, partner?: ExistingPartner) => ({
  row: line,
  name: plan.name,
  partnerId: partner?.id ?? null,
  detail: null,
});

function describeExisting(row: Row, partner: ExistingPartner): RowResult {
  const base = resultOf(row, partner);
  const { id, status } = partner;
  if (status === 'pending')
    return { ...base, result: 'unfinished', detail: 'pending: an earlier run did not finish it' };
  if (status === 'active') return { ...base, result: 'exists' };
  const another = status === 'closed' ? '; another company needs another name' : '';
  const detail = `${status}, so it is not served; to serve it again: svcadmin partners activate ${id}${another}`;
  return { ...base, result: 'exists', detail };
}

/** Onboards the partner of one row. @returns the result, and as `outage` the reason if the server cannot be reached */
async function onboardRow(
  api: AdminApi,
  row: Row,
  { onStart, saveSecrets, source }: Callbacks,
): Promise<{ result: RowResult; outage?: string }> {
  const base = resultOf(row);
  try {
    onStart(row);
    const made = await onboardPartner(api, row.plan);
    saveSecrets(made);
    return { result: { ...base, result: 'onboarded', partnerId: made.partnerId, made } };
  } catch (error) {
    const { code, message } = toFailure(error, source);
    const result = { ...base, result: 'failed', detail: message } as const;
    return code === 'unreachable' ? { result, outage: message } : { result };
  }
}

/** @throws CommandError if flags of a single partner are combined with `--from` */
export function refusePartnerFlags(flags: Readonly<Record<string, unknown>>): void {
  const combined = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (combined.length > 0)
    throw usageError(`--from has all that is needed; leave out ${combined.map(([name]) => name).join(', ')}`);
}
