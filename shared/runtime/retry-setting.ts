import type { Rate } from '../model/reservations.ts'

/** What all controllers together spend on retries if nobody says otherwise: as controllers of Kubernetes do. */
const usual: Rate = { perSecond: 10, burst: 100 }

export const retryBudgetForm = 'retries a second and how many at once, such as 10/100, or none'

/** What a setting says of the retry budget; undefined: there is none. Throws a TypeError that says what is expected. */
export function parseRetryBudget(text: string | undefined): Rate | undefined {
  if (text === undefined || text === '') return usual
  if (text === 'none') return undefined
  const [, perSecond = '', burst = ''] = /^(\d{1,5}(?:\.\d{1,3})?)\/(\d{1,6})$/.exec(text) ?? []
  const rate = { perSecond: Number(perSecond), burst: Number(burst) }
  if (rate.perSecond > 0 && rate.burst > 0) return rate
  throw new TypeError(`SETPOINT_RETRY_BUDGET: ${JSON.stringify(text)} is no budget; give ${retryBudgetForm}`)
}
