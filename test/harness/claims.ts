/** The claims of a sandbox adult. They are repeated here, so that tests do not depend on the code under test. */
export const adult = {
  age_16_plus: true,
  age_18_plus: true,
  age_21_plus: true,
  identity_verified: true,
  country: 'DE',
  assurance_level: 2,
} as const;
