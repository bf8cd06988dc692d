/**
 * How much the tests try: `npm test` is the short form, `npm run test:long` the long one, which leaves nothing out. The
 * variables are read here and nowhere else.
 */
export const isLong = process.env['SETPOINT_TESTS'] === 'long'

/** `npm test` of the whole tree: the short form, without the tests of costly.json. Files that are named run whole. */
export const isQuick = process.env['SETPOINT_TESTS'] === 'quick'

/**
 * What properties draw from: the same in every run, so that a test fails for a change and not for the day.
 * `SETPOINT_DRAWS=7` draws others.
 */
export const drawSeed = Number(process.env['SETPOINT_DRAWS'] ?? 20_261_124)

/** Of what the long form does so often, or with so many: a tenth in the short form. */
export function share(long: number): number {
  return isLong ? long : Math.ceil(long / 10)
}

/** At least so many of what chance brings in the long form, and one in the short form, which draws a tenth. */
export function least(long: number): number {
  return isLong ? long : 1
}

/** All of these in the long form, the first and every third after it in the short form. */
export function pick<Item>(all: readonly Item[]): readonly Item[] {
  return isLong ? all : all.filter((_, i) => i % 3 === 0)
}

/** Options of a test that the short form leaves out, for what it costs. */
export const longOnly = { skip: !isLong, meta: { skipped: 'npm run test:long' } }
