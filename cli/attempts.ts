/** What people want to know of each attempt to deliver an event. */
export const attemptColumns = [
  'attempt',
  'at',
  'status',
  'error',
  'durationMs',
  'trigger',
  'detail',
] as const;
