/**
 * A length of time as kubectl shows ages: apimachinery `duration.HumanDuration`. Two units at most, `<invalid>` for the
 * future.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1_000)
  // Two clocks may differ by a moment.
  if (seconds < -1) return '<invalid>'
  if (seconds < 120) return `${Math.max(seconds, 0)}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  return hoursAndMore(Math.trunc(minutes / 60), minutes)
}

function hoursAndMore(hours: number, minutes: number): string {
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`
}
