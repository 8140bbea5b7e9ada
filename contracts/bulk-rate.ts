/** The highest rate of a bulk job, in deliveries per second and API key. This file imports nothing, so that `svcadmin` starts without zod. */
export const fastestRate = 100;
export const usualRate = 10;
