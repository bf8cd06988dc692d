import type { QuotaSecond } from './quotas.ts'

/** What happens in the first minutes, as a picture: three lines of boxes, each with its own scale. */
export function quotaPicture(title: string, seconds: readonly QuotaSecond[]): string {
  const panels = [
    panel('changes a second', seconds, [
      { name: 'asked', colour: '#7f7f7f', of: ({ asked }) => asked },
      { name: 'accepted', colour: '#1f77b4', of: ({ accepted }) => accepted },
      { name: 'converged', colour: '#2ca02c', of: ({ converged }) => converged },
    ]),
    panel('from request to status, in seconds', seconds, [
      { name: 'wait', colour: '#d62728', of: ({ waitMs }) => waitMs / 1_000 },
    ]),
    panel('buckets of the index of changes, for each kind', seconds, [
      { name: 'buckets', colour: '#9467bd', of: ({ buckets }) => buckets },
    ]),
  ]
  const height = 24 + panels.length * (panelHeight + gap)
  const placed = panels.map((text, i) => `<g transform="translate(0 ${24 + i * (panelHeight + gap)})">${text}</g>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="16" font-size="13">${title}</text>
${placed.join('\n')}
</svg>
`
}

interface Line {
  readonly name: string
  readonly colour: string
  readonly of: (second: QuotaSecond) => number
}

const width = 760
const panelHeight = 130
const gap = 12
const left = 60
const top = 20

function panel(title: string, seconds: readonly QuotaSecond[], lines: readonly Line[]): string {
  const most = Math.max(1, ...lines.flatMap(({ of }) => seconds.map(of)))
  const xOf = (i: number): number => left + (i * (width - left - 10)) / Math.max(1, seconds.length - 1)
  const yOf = (value: number): number => top + (1 - value / most) * (panelHeight - top - 14)
  const drawnLines = lines.map(({ colour, of }) => {
    const points = seconds.map((second, i) => `${xOf(i).toFixed(1)},${yOf(of(second)).toFixed(1)}`)
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(' ')}"/>`
  })
  const names = lines.map(
    ({ name, colour }, i) => `<text x="${left + 320 + i * 90}" y="12" fill="${colour}">${name}</text>`,
  )
  const minutes = Array.from({ length: Math.floor(seconds.length / 60) + 1 }, (_, i) => i)
  const marks = minutes.map((minute) => `<text x="${xOf(60 * minute).toFixed(1)}" y="${panelHeight}">${minute}</text>`)
  return [
    `<text x="${left}" y="12">${title}</text>`,
    `<text x="${left - 6}" y="${top + 8}" text-anchor="end">${Math.round(most).toLocaleString('en')}</text>`,
    `<text x="${left - 6}" y="${panelHeight - 14}" text-anchor="end">0</text>`,
    `<path d="M${left} ${top}V${panelHeight - 14}H${width - 10}" fill="none" stroke="#aaa"/>`,
    ...names,
    ...marks,
    ...drawnLines,
  ].join('')
}
