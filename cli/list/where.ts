import { usageError } from '../errors/failure.ts';
import { parseDollars } from '../flags/amounts.ts';
import { parseMoment, parseSeconds } from '../flags/durations.ts';
import { requestedColumns } from '../flags/flags.ts';
import { formatValue, isMoney } from '../output/format.ts';

const operators = ['!=', '=', '~', '<', '>'] as const;
type Operator = (typeof operators)[number];

/** `lastStatus=301`: what a row needs to have in one column. */
interface Condition {
  column: string;
  operator: Operator;
  /** Empty for a column without a value. */
  operand: string;
}

const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;
const day = /^\d{4}-\d{2}-\d{2}$/;

/** @throws CommandError for a text that is no condition */
function parseCondition(text: string): Condition {
  const [, column = '', operator = '', operand = ''] = /^([^!=~<>]+)(!=|[=~<>])(.*)$/s.exec(text) ?? [];
  const found = operators.find((one) => one === operator);
  if (found === undefined)
    throw usageError(
      `${text} is not a condition such as status=failed`,
      'The operators: = != ~ (contains) < >. Put a condition with < or > in quotes.',
    );
  return { column: column.trim(), operator: found, operand: operand.trim() };
}

/** `7d` is 7 days ago, `+7d` is in 7 days. */
function momentOf(text: string, now: number): string | undefined {
  const ahead = text.startsWith('+') ? parseSeconds(text.slice(1)) : undefined;
  return ahead === undefined ? parseMoment(text, now) : new Date(now + ahead * 1000).toISOString();
}

/** @throws CommandError for an operand that cannot be compared with the column's values */
function compareBySize({ column, operand }: Condition, value: unknown): number {
  if (typeof value === 'number') {
    const bound = isMoney(column) ? parseDollars(operand, { signed: true }) : Number(operand || Number.NaN);
    if (bound === undefined || Number.isNaN(bound)) throw usageError(`${operand} is not a number`);
    return value - bound;
  }
  if (typeof value === 'string' && time.test(value)) {
    const bound = momentOf(operand, Date.now());
    if (bound === undefined)
      throw usageError(`${operand} is not a time such as 2026-07-01, 7d (ago) or +7d (from now)`);
    return Date.parse(value) - Date.parse(bound);
  }
  // A column may have numbers in some rows only, such as a status or the class of an error.
  if (operand !== '' && !Number.isNaN(Number(operand))) return Number.NaN;
  throw usageError(`${column} has neither numbers nor times, so that < and > cannot compare it`);
}

/** A time is equal to its day, as `--by` counts it. */
function isEqual({ column, operand }: Condition, value: unknown): boolean {
  if (typeof value === 'string' && time.test(value) && day.test(operand)) return value.startsWith(operand);
  if (typeof value === 'number' && isMoney(column)) return value === parseDollars(operand, { signed: true });
  const texts = [String(value), formatValue(column, value)].map((text) => text.toLowerCase());
  return texts.includes(operand.toLowerCase());
}

function meets(condition: Condition, value: unknown): boolean {
  const { column, operator, operand } = condition;
  if (operator === '!=') return !meets({ ...condition, operator: '=' }, value);
  if (Array.isArray(value) && value.length > 0) return value.some((item) => meets(condition, item));
  const isAbsent = value === null || value === undefined || value === '' || Array.isArray(value);
  if (isAbsent || operand === '') return operator === '=' && isAbsent && operand === '';
  if (operator === '=') return isEqual(condition, value);
  if (operator === '~') return formatValue(column, value).toLowerCase().includes(operand.toLowerCase());
  const difference = compareBySize(condition, value);
  return operator === '<' ? difference < 0 : difference > 0;
}

/** The columns that conditions name, as they are called there. */
export const conditionColumns = (where: readonly string[]): string[] =>
  where.map((text) => parseCondition(text).column);

/**
 * A check whether a row, as tables show it, meets all conditions of `--where`.
 * @param columns of the list, which a row may lack
 * @throws CommandError for a text that is no condition, and from the check for a column that the list does not have
 */
export function createFilter(where: readonly string[], columns: readonly string[]) {
  const conditions = where.map(parseCondition);
  let resolved: readonly Condition[] | undefined;
  return (row: object): boolean => {
    resolved ??= conditions.map((condition) => {
      const known = [...new Set([...columns, ...Object.keys(row)])];
      const [column = condition.column] = requestedColumns(condition.column, known, true);
      return { ...condition, column };
    });
    return resolved.every((condition) =>
      meets(condition, (row as Record<string, unknown>)[condition.column]),
    );
  };
}
