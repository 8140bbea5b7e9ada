/** What the sandbox is to say of an adult; stated here once more, so that the tests do not ask it of itself. */
export const adult = {
  age_16_plus: true,
  age_18_plus: true,
  age_21_plus: true,
  identity_verified: true,
  country: 'DE',
  assurance_level: 2,
} as const;
