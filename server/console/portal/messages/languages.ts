import type { Language } from '../../../platform/http/browser/language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Messages } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export const languages: Readonly<Record<Language, Messages>> = { en, de, fr, es, ar };
