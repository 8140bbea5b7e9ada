import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { CreateClient, UpdateClient } from '../../contracts/admin/clients.ts';
import { BlockEnrollment } from '../../contracts/admin/enrollments.ts';
import { CreateOperator } from '../../contracts/admin/operators.ts';
import { CreatePartner, PlannedPartner } from '../../contracts/admin/partners.ts';
import { AdjustWallet, FundWallet, RefundCharge } from '../../contracts/admin/wallets.ts';
import { SourceLabel } from '../../contracts/source-name.ts';

/** The texts that people read, and the addresses of links. */
const texts: Record<string, z.ZodType> = {
  'a name of a partner': CreatePartner.shape.name,
  'a name of a planned partner': PlannedPartner.shape.name,
  'a name of a client': CreateClient.shape.name,
  'a brand': UpdateClient.shape.brandName,
  'a purpose': UpdateClient.shape.purpose,
  'a name of an operator': CreateOperator.shape.name,
  'a reference of a funding': FundWallet.shape.reference,
  'a reason of an adjustment': AdjustWallet.shape.reason,
  'a reference of an adjustment': AdjustWallet.shape.reference,
  'a reason of a refund': RefundCharge.shape.reason,
  'a reason of a block': BlockEnrollment.shape.reason,
  'a label of a source': SourceLabel,
};

/** Characters that are not seen, or that change the direction of the text beside them. */
const hidden = [
  ...[
    ...['\0', '\u0007', '\u001b', '\u007f', '\u0085', '\u00ad', '\u061c', '\u200b', '\u200d', '\u200e'],
    '\u2028',
  ],
  ...['\u2029', '\u202a', '\u202e', '\u2060', '\u2066', '\u2069', '\ufeff', '\u{e0041}'],
  // Fillers, joiners and variation selectors are no format characters, but show nothing either.
  ...['\u034f', '\u115f', '\u17b4', '\u180b', '\u2800', '\u3164', '\ufe0f', '\uffa0', '\u{e0100}'],
];
const nameOf = (character: string) =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

describe.each(Object.entries(texts))('%s', (_, schema) => {
  it('is refused with a hidden character, which the error names with its place', () => {
    for (const character of hidden)
      expect(schema.safeParse(`ab${character}c`).error?.issues[0]?.message).toBe(
        `must not contain control characters or invisible ones: ${nameOf(character)} at position 3`,
      );
  });

  it('is accepted with letters of other scripts, accents and emojis', () => {
    for (const text of [
      ...['Zo\u00eb & S\u00f8n', '\u6771\u4eac', '\u0634\u0631\u0643\u0629', 'e\u0301', 'Shop \u{1f6d2}'],
    ])
      expect(schema.safeParse(text).success).toBe(true);
  });
});

it('an address of a privacy notice with a hidden character is refused', () => {
  const { privacyUrl } = CreateClient.shape;
  for (const character of hidden)
    expect(privacyUrl.safeParse(`https://a.example/${character}x`).success).toBe(false);
});
