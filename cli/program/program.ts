import { forMembers } from '../../contracts/member-advice.ts';

/** The two programs of the package. They share commands, but each has a separate API, profiles and texts. */
export type ProgramName = 'svcadmin' | 'svc';

export const programOf = (bin: string): ProgramName => (bin === 'svc' ? 'svc' : 'svcadmin');

/**
 * Replaces `svcadmin` by `svc` in a sentence for members, and advice for operators by advice for members. The commands have the
 * same names in both programs.
 */
export const rewordFor = (program: ProgramName, text: string): string =>
  program === 'svc' ? forMembers(text.replaceAll(/\bsvcadmin\b/g, 'svc')) : text;
