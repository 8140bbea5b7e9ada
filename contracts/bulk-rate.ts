/** Deliveries of one API key in a second. Imports nothing: the command line starts without zod. */
export const fastestRate = 100;
export const usualRate = 10;
