/** Rewords advice for members of the partner, who mend the receiver themselves: `Have the partner check` is `Check` to them. */
export const forMembers = (advice: string): string =>
  advice
    .replaceAll(/\bHave the partner (?<first>\w)/g, (_all, first: string) => first.toUpperCase())
    .replaceAll(/\bhave the partner (?<first>\w)/g, (_all, first: string) => first);
