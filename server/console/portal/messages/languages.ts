import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Messages } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export const languages = { en, de, fr, es, ar } as const satisfies Record<string, Messages>;
export type Language = keyof typeof languages;
