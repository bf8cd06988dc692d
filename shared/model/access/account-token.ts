/** Who makes the tokens of ServiceAccounts, as they say themselves. */
export const accountTokenIssuer = 'https://setpoint'

/** Whom a token must be for to be taken by this API. */
export const apiAudience = 'https://setpoint'

/** A year. Who asks for a token that holds longer is given so much, and told. */
export const accountTokenSecondsMax = 365 * 86_400
