import { usageError } from '../errors/failure.ts';
import { parseDollars } from '../flags/amounts.ts';
import { parseMoment, parseSeconds } from '../flags/durations.ts';
import { requestedColumns } from '../flags/flags.ts';
import { formatValue, isMoney } from '../output/format.ts';

const operators = ['!=', '=', '~', '<', '>'] as const;
type Operator = (typeof operators)[number];

/** A condition such as `lastStatus=301`: the value that a row must have in one column. */
interface Condition {
  column: string;
  operator: Operator;
  /** Empty for a column without a value. */
  operand: string;
}

/** A time in ISO 8601. */
export const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;
const dayForm = /^\d{4}-\d{2}-\d{2}$/;
/** A share as tables show it. */
const percentForm = /^([\d.]+) %$/;

/** Parses a condition. @throws CommandError if the text is not a condition */
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

/** Parses a time: `7d` is 7 days ago, `+7d` is in 7 days. Returns undefined if the text is not a time. */
function parsePastOrFuture(text: string, now: number): string | undefined {
  const secondsAhead = text.startsWith('+') ? parseSeconds(text.slice(1)) : undefined;
  return secondsAhead === undefined
    ? parseMoment(text, now)
    : new Date(now + secondsAhead * 1000).toISOString();
}

/**
 * Subtracts the operand of a condition from a number or a time. Returns NaN if the value is neither.
 * @throws CommandError if the operand cannot be compared with the values of the column
 */
function compareBySize({ column, operand }: Omit<Condition, 'operator'>, value: unknown): number {
  const [, percent] = typeof value === 'string' ? (percentForm.exec(value) ?? []) : [];
  if (percent !== undefined) return compareBySize({ column, operand }, Number(percent));
  if (typeof value === 'number') {
    const bound = isMoney(column)
      ? parseDollars(operand, { canBeNegative: true })
      : Number(operand || Number.NaN);
    if (bound === undefined || Number.isNaN(bound)) throw usageError(`${operand} is not a number`);
    return value - bound;
  }
  if (typeof value === 'string' && timeForm.test(value)) {
    const bound = parsePastOrFuture(operand, Date.now());
    if (bound === undefined)
      throw usageError(`${operand} is not a time such as 2026-07-01, 7d (ago) or +7d (from now)`);
    return Date.parse(value) - Date.parse(bound);
  }
  // A column may have numbers in some rows only, such as a status or the class of an error.
  if (operand !== '' && !Number.isNaN(Number(operand))) return Number.NaN;
  throw usageError(`${column} has neither numbers nor times, so that < and > cannot compare it`);
}

/** Compares a value with the operand of a condition. A time is equal to its day, as `--by` counts it. */
function equalsOperand({ column, operand }: Condition, value: unknown): boolean {
  if (typeof value === 'string' && timeForm.test(value) && dayForm.test(operand))
    return value.startsWith(operand);
  if (typeof value === 'number' && isMoney(column))
    return value === parseDollars(operand, { canBeNegative: true });
  const texts = [String(value), formatValue(column, value)].map((text) => text.toLowerCase());
  return texts.includes(operand.toLowerCase());
}

function meetsCondition(condition: Condition, value: unknown): boolean {
  const { column, operator, operand } = condition;
  if (operator === '!=') return !meetsCondition({ ...condition, operator: '=' }, value);
  if (Array.isArray(value) && value.length > 0) return value.some((item) => meetsCondition(condition, item));
  const isAbsent = value === null || value === undefined || value === '' || Array.isArray(value);
  if (isAbsent || operand === '') return operator === '=' && isAbsent && operand === '';
  if (operator === '=') return equalsOperand(condition, value);
  if (operator === '~') return formatValue(column, value).toLowerCase().includes(operand.toLowerCase());
  const difference = compareBySize(condition, value);
  return operator === '<' ? difference < 0 : difference > 0;
}

/** Returns the columns of a list: those that it shows, and the other fields of a row. */
export function knownColumns(columns: readonly string[], row: object = {}): string[] {
  return [...new Set([...columns, ...Object.keys(row)])];
}

/** Returns the columns that conditions name, in the spelling of the conditions. */
export const conditionColumns = (where: readonly string[]): string[] =>
  where.map((text) => parseCondition(text).column);

/**
 * Returns a function that checks whether a row, as tables show it, meets all conditions of `--where`.
 * @param columns the columns of the list. A row may have others, or only some of them
 * @throws CommandError if a text is not a condition. The returned function throws it if the list lacks a column
 */
export function createFilter(where: readonly string[], columns: readonly string[]) {
  const conditions = where.map(parseCondition);
  let resolved: readonly Condition[] | undefined;
  return (row: object): boolean => {
    resolved ??= conditions.map((condition) => {
      const known = knownColumns(columns, row);
      const [column = condition.column] = requestedColumns(condition.column, known, true);
      return { ...condition, column };
    });
    return resolved.every((condition) =>
      meetsCondition(condition, (row as Record<string, unknown>)[condition.column]),
    );
  };
}
