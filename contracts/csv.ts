/** Spreadsheets take a cell that begins with one of these characters for a formula. A quote before it makes it text. */
const formula = /^[=+\-@\t\r]/;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** Renders a cell by RFC 4180. A value that a spreadsheet would take for a formula is made text, unless it is a number. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const isFormula = formula.test(text) && !plainNumber.test(text);
  const safe = isFormula ? `'${text}` : text;
  const needsQuotes = /[",\r\n]/.test(safe);
  return needsQuotes ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Cells = readonly (string | number | null)[];

/** Renders rows of a CSV file. */
export const renderRows = (rows: readonly Cells[]): string[] => rows.map((row) => row.map(cell).join(','));

/** Renders a CSV file: the headings, then the rows. */
export const renderCsv = (headings: readonly string[], rows: readonly Cells[]): string[] =>
  renderRows([headings, ...rows]);
