/** Columns of a table of delivery attempts. */
export const attemptColumns = [
  'attempt',
  'at',
  'status',
  'error',
  'durationMs',
  'trigger',
  'detail',
] as const;
