import type { ApiError } from '../../platform/errors.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { type Fault, faultsOf } from './fault-words.ts';
import type { Field, Given, Section } from './views/kit/page.ts';

/** Whether a fault is about what was typed into this field. */
export const isAbout = ({ name, sets = [] }: Field, fault: Fault): boolean =>
  fault.name !== undefined && [name, ...sets].includes(fault.name);

/** The fields of the refused search, or of the form with the refused act. */
export const refusedFields = (
  sections: readonly Section[],
  { act, isSearch }: { act: string | undefined; isSearch: boolean },
): readonly Field[] =>
  sections.flatMap(({ search, forms = [] }) => {
    if (isSearch) return search?.fields ?? [];
    return forms.flatMap((form) => (form && form.act === act ? form.fields : []));
  });

const isTyped = ({ kind = 'text' }: Field) => kind === 'text' || kind === 'lines' || kind === 'date';

/**
 * Puts the faults of a refused form beside its fields. A fault that names no field is put beside the only field that is typed, if
 * the form has only one.
 */
export function withFaults<Fields extends { fields: readonly Field[] }>(
  form: Fields,
  error: ApiError,
  language: Language,
): Fields {
  if (!['bad_input', 'refused', 'conflict'].includes(error.code)) return form;
  const faults = faultsOf(error, language);
  const typed = form.fields.filter(isTyped);
  const faultNamed = (field: Field) => faults.find((fault) => isAbout(field, fault));
  const isNamed = form.fields.some(faultNamed);
  const faultOf = (field: Field) => {
    if (isNamed) return faultNamed(field);
    return typed.length === 1 && field === typed[0] ? faults[0] : undefined;
  };
  const fields = form.fields.map((field) => ({ ...field, fault: faultOf(field) }));
  const first = fields.find(({ fault }) => fault !== undefined);
  return { ...form, fields: fields.map((field) => (field === first ? { ...field, hasFocus: true } : field)) };
}

/** Shows a refused search again: the form with what was typed, and no result. */
export function withRefusedSearch(
  section: Section,
  typed: Given,
  error: ApiError,
  language: Language,
): Section {
  if (!section.search) return section;
  const fields = section.search.fields.map((field) => ({ ...field, value: typed[field.name] }));
  const { title, note } = section;
  return { title, note, search: withFaults({ ...section.search, fields }, error, language) };
}

export const hasFault = (sections: readonly Section[]): boolean =>
  sections.some(({ forms = [], search }) =>
    [...(search?.fields ?? []), ...forms.flatMap((form) => (form ? form.fields : []))].some(
      ({ fault }) => fault !== undefined,
    ),
  );
