/** The languages of the hosted pages, in the order of the menu. */
export const languageCodes = ['en', 'de', 'fr', 'es', 'ar'] as const;
export type Language = (typeof languageCodes)[number];
