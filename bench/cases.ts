import { type PartnerSet, usualPartners } from './contenders/contender.ts';
import type { Options, Section } from './options.ts';

/** One row of the table: the kind of request, and the number of concurrent callers. */
export interface Case {
  id: string;
  title: string;
  section: Section;
  callers: number;
  partnerSet: PartnerSet;
  /** The largest number of requests in a round. */
  most?: number;
}

const manyCallers = 64;

/** The rows of a run in order. `userinfo` makes two of them, cold and warm. */
export function casesOf({
  sections,
  callers,
  smoke,
}: Pick<Options, 'sections' | 'callers' | 'smoke'>): Case[] {
  const many = smoke ? 16 : manyCallers;
  const all: Case[] = [
    ...callers.map(
      (count): Case => ({
        id: `hot-${count}`,
        title: `exchange, one partner, ${count} ${count === 1 ? 'caller' : 'callers'}`,
        section: 'exchange',
        callers: count,
        partnerSet: 'one',
      }),
    ),
    {
      id: 'usual-1',
      title: `exchange, ${usualPartners} partners at default limits, 1 caller`,
      section: 'exchange',
      callers: 1,
      partnerSet: 'usual',
      // A partner may exchange 30 codes a minute, and rounds are a few seconds apart.
      most: 3 * usualPartners,
    },
    {
      id: `crowd-${many}`,
      title: `exchange, 200 partners, ${many} callers`,
      section: 'crowd',
      callers: many,
      partnerSet: 'many',
    },
    {
      id: `userinfo-${many}`,
      title: `userinfo, ${many} callers`,
      section: 'userinfo',
      callers: many,
      partnerSet: 'one',
    },
  ];
  return all.filter(({ section }) => sections.has(section));
}
