import { Cron } from 'croner'
import { stop } from '../../../shared/index.ts'

/** The times of a cron schedule. All times are milliseconds since the epoch. */
export interface Schedule {
  /** The first time after this one; `undefined` if there is none (30 February). */
  next(afterMs: number): number | undefined
  /** The last time after `fromMs` up to `untilMs`, and how many there are in all, counted up to `missedMax + 1`. */
  latest(fromMs: number, untilMs: number): { readonly atMs: number; readonly missed: number } | undefined
}

/** Above so many missed runs Kubernetes warns: the clock jumped, or nobody was there for long. */
export const missedMax = 100

/**
 * Reads a schedule as Kubernetes' CronJob does (robfig/cron v3): where the clocks go forward, a time that does not
 * exist is skipped, and where they go back, a time that comes twice runs twice. Throws an error with a message for
 * people if the schedule or the time zone is not valid.
 */
export function parseSchedule(text: string, timeZone = 'UTC'): Schedule {
  // TypeError or RangeError, with the field; an unknown time zone is found when the first time is asked for.
  const cron = new Cron(toRanges(nicknames[text] ?? text), { mode: '5-part', timezone: timeZone })
  cron.nextRun(new Date(0))
  const next = (afterMs: number): number | undefined => cron.nextRun(new Date(afterMs))?.getTime()
  const last = (untilMs: number): number | undefined => cron.previousRuns(1, new Date(untilMs + 1))[0]?.getTime()

  const latest: Schedule['latest'] = (fromMs, untilMs) => {
    let missed = 0
    let atMs: number | undefined
    for (let due = next(fromMs); due !== undefined && due <= untilMs && missed <= missedMax; due = next(due)) {
      missed++
      atMs = due
    }
    if (missed > missedMax) atMs = last(untilMs)
    return atMs === undefined ? undefined : { atMs, missed }
  }
  return { next, latest }
}

/** The schedule that an object declares. One that is not valid stops its run. */
export function readSchedule({ schedule, timeZone }: Declared): Schedule {
  try {
    return parseSchedule(schedule, timeZone)
  } catch (cause) {
    const { message } = cause as Error
    throw stop('InvalidSchedule', `schedule "${schedule}" in ${timeZone ?? 'UTC'}: ${message}`, { cause })
  }
}

interface Declared {
  readonly schedule: string
  readonly timeZone?: string | undefined
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/**
 * The same schedule, in what croner reads as Kubernetes does. croner knows no `5/15`, which is `5-59/15`. It moves a
 * job of one fixed hour out of the gap that daylight saving leaves, and runs it once where the hour comes twice; one
 * whose hour is a range it treats as Kubernetes treats all. `2-2/1` is 2, as a range.
 */
function toRanges(text: string): string {
  const fields = text.trim().split(/ +/)
  return fields
    .map((field, i) => field.replaceAll(/(?<![\w/-])(\w+)\//g, `$1-${greatest[i]}/`))
    .map((field, i) => (i === 1 ? field.replaceAll(/(?<![\d/-])(\d+)(?![\d/-])/g, '$1-$1/1') : field))
    .join(' ')
}

/** Of minute, hour, day of month, month, and day of week. */
const greatest = [59, 23, 31, 12, 6]
