/** The two programs of the package. They share commands; each has its own API, profiles and texts. */
export type ProgramName = 'svcadmin' | 'svc';

export const programOf = (bin: string): ProgramName => (bin === 'svc' ? 'svc' : 'svcadmin');

/** A sentence that names commands of `svcadmin`, for a reader of `svc`: there they have the same names. */
export const inWordsOf = (program: ProgramName, text: string): string =>
  program === 'svc' ? text.replaceAll(/\bsvcadmin\b/g, 'svc') : text;
