import { beginsWithDay } from '../../contracts/calendar.ts';
import { comparable } from '../../contracts/input-text.ts';
import { usageError } from '../errors/failure.ts';
import { parseFormattedCents } from '../flags/amounts.ts';
import { requestedColumns } from '../flags/flags.ts';
import { parsePastOrFuture } from '../flags/moments.ts';
import { formatValue, isMoney, localTime } from '../output/format.ts';

/** A condition such as `lastStatus=301` or `durationMs>500`: it compares the value of a row in one column with the operand. */
interface Condition {
  column: string;
  operator: '=' | '~' | '<' | '>';
  /** Whether the operator is `!=`, which accepts the rows that `=` does not accept. */
  isNegated: boolean;
  /** The text after the operator. Empty in `lastUsedAt=`, which accepts rows without a value, and in `lastUsedAt!=`. */
  operand: string;
}

/** Whether a value is a time in ISO 8601. */
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/.test(value);
const dayForm = /^\d{4}-\d{2}-\d{2}$/;

/** Parses a condition. @throws CommandError if the text is not a condition */
function parseCondition(text: string): Condition {
  const form = /^(?<column>[^!=~<>]+)(?<operator>!=|[=~<>])(?<operand>.*)$/s;
  const { column, operator, operand } = form.exec(text)?.groups ?? {};
  if (column === undefined || operand === undefined)
    throw usageError(
      `${text} is not a condition such as status=failed`,
      'The operators: = != ~ (contains) < >. Put a condition with < or > in quotes.',
    );
  const isNegated = operator === '!=';
  return {
    column: column.trim(),
    operator: isNegated ? '=' : (operator as Condition['operator']),
    isNegated,
    operand: operand.trim(),
  };
}

/** Parses the operand for a column of numbers. A column of amounts has cents, but the person gives dollars. */
function parseNumber({ column, operand }: Condition): number {
  if (isMoney(column)) {
    const cents = parseFormattedCents(operand);
    if (cents === undefined) throw usageError(`${operand} is not an amount in dollars such as 50.00`);
    return cents;
  }
  const parsed = Number(operand);
  if (Number.isNaN(parsed)) throw usageError(`${operand} is not a number`);
  return parsed;
}

/** Returns the number in a value, which may be a text: a status such as `503`, or a share such as `12.5 %`. */
function numberIn(value: unknown): number | undefined {
  if (typeof value !== 'string') return typeof value === 'number' ? value : undefined;
  const digits = /^(?<digits>\d+(\.\d+)?)( %)?$/.exec(value)?.groups?.['digits'];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Subtracts the operand of a condition from a number or a time. Returns NaN for another value, because it is neither less nor
 * greater than the operand.
 * @throws CommandError if the operand cannot be compared with the values of the column
 */
function subtractOperand(condition: Condition, value: unknown): number {
  if (isTime(value)) return Date.parse(value) - parsePastOrFuture(condition.operand);
  const number = numberIn(value);
  if (number !== undefined) return number - parseNumber(condition);
  // Other rows may have numbers in this column: `lastStatus` is a status or, without an answer, the class of an error.
  if (!Number.isNaN(Number(condition.operand))) return Number.NaN;
  throw usageError(`${condition.column} has neither numbers nor times, so that < and > cannot compare it`);
}

/** Whether a value is equal to the operand of a condition. A time is equal to its day in local time, as tables show it. */
function equalsOperand(condition: Condition, value: unknown): boolean {
  const { column, operand } = condition;
  if (isTime(value) && dayForm.test(operand)) {
    if (!beginsWithDay(operand)) throw usageError(`${operand} is not a day of the calendar`);
    return localTime(value).startsWith(operand);
  }
  if (typeof value === 'number' && isMoney(column)) return value === parseNumber(condition);
  // The person may write a value as --json has it (`true`) or as the table shows it (`yes`).
  const spellings = [String(value), formatValue(column, value)].map(comparable);
  return spellings.includes(comparable(operand));
}

/** Compares a value, which is not absent, with the operand of a condition, which is not empty. */
function compare(condition: Condition, value: unknown): boolean {
  const { column, operator, operand } = condition;
  switch (operator) {
    case '=':
      return equalsOperand(condition, value);
    case '~':
      return comparable(formatValue(column, value)).includes(comparable(operand));
    case '<':
      return subtractOperand(condition, value) < 0;
    case '>':
      return subtractOperand(condition, value) > 0;
  }
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Whether the value of a row meets a condition. A list of values meets it if one of them does; with `!=`, if none is equal. */
function meetsCondition(condition: Condition, value: unknown): boolean {
  const { operator, operand, isNegated } = condition;
  const presentValues = [value].flat().filter((each) => !isAbsent(each));
  const isMet =
    operator === '=' && operand === ''
      ? presentValues.length === 0
      : operand !== '' && presentValues.some((each) => compare(condition, each));
  return isMet !== isNegated;
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
  let withExactNames: readonly Condition[] | undefined;
  return (row: object): boolean => {
    // The names are checked with the first row, because only a row shows all columns of a list.
    withExactNames ??= conditions.map((condition) => {
      const [exactName = ''] = requestedColumns(condition.column, knownColumns(columns, row));
      return { ...condition, column: exactName };
    });
    return withExactNames.every((condition) =>
      meetsCondition(condition, (row as Record<string, unknown>)[condition.column]),
    );
  };
}

/** A column with more values than this is not described. */
const mostValues = 12;

/**
 * Collects the values of the columns that conditions such as `status=failed` name. If no row meets the conditions, they show
 * that the person mistyped a value.
 * @returns `note`, which takes and returns a row as tables show it, and `describe`, which returns a sentence for each column
 */
export function collectValues(where: readonly string[], columns: readonly string[]) {
  const asked = where
    .map(parseCondition)
    .filter(({ operator, operand, isNegated }) => operator === '=' && operand !== '' && !isNegated);
  const valuesOf = new Map<string, Set<string>>();
  return {
    note<Row extends object>(row: Row): Row {
      for (const { column } of asked) {
        const [exactName = ''] = requestedColumns(column, knownColumns(columns, row));
        const values = valuesOf.get(exactName) ?? new Set();
        valuesOf.set(exactName, values);
        if (values.size > mostValues) continue;
        const present = [(row as Record<string, unknown>)[exactName]]
          .flat()
          .filter((value) => !isAbsent(value));
        for (const value of present) values.add(formatValue(exactName, value));
      }
      return row;
    },
    describe: (): string[] =>
      [...valuesOf]
        .filter(([, { size }]) => size > 0 && size <= mostValues)
        .map(([column, values]) => `${column} has: ${[...values].sort().join(', ')}.`),
  };
}
