/** Acceptance tests that do not apply to the engine on AWS, by name, with the reason. */
export const elsewhere: Readonly<Partial<Record<string, string>>> = {}
