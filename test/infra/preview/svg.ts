import { lineOf, seriesOf, type Point, type Series, type Span } from './recorded.ts'

/** A widget as a dashboard's body has it. */
export interface Widget {
  readonly type: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly properties: {
    readonly title?: string
    readonly markdown?: string
    readonly metrics?: readonly (readonly unknown[])[]
    readonly yAxis?: { readonly left?: { readonly label?: string } }
    readonly annotations?: { readonly horizontal?: readonly { readonly label: string; readonly value: number }[] }
  }
}

const column = 55
const row = 34
const gap = 4
const colours = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f']

/** A dashboard as a picture: its own texts and places, with lines of what was recorded. */
export function drawn(widgets: readonly Widget[], points: readonly Point[], span: Span): string {
  const height = Math.max(...widgets.map(({ y, height: rows }) => (y + rows) * row))
  const parts = widgets.map((widget) => panel(widget, contentOf(widget, points, span)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${24 * column} ${height}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#f2f3f3"/>
${parts.join('\n')}
</svg>
`
}

function panel({ x, y, width, height }: Widget, content: string): string {
  const size = `width="${width * column - gap}" height="${height * row - gap}"`
  return `<g transform="translate(${x * column + gap / 2} ${y * row + gap / 2})"><rect ${size} fill="#fff" stroke="#d5dbdb"/>${content}</g>`
}

function contentOf(widget: Widget, points: readonly Point[], span: Span): string {
  const { markdown, title = '' } = widget.properties
  if (markdown !== undefined) return markdownText(markdown, widget)
  const heading = `<text x="8" y="16" font-size="12" font-weight="bold">${escaped(title)}</text>`
  const lines = (widget.properties.metrics ?? []).map(lineOf)
  const own = lines.filter((line) => line !== undefined)
  const series = own
    .flatMap((line) => seriesOf(line, points, span))
    .filter(({ values }) => values.some((one) => one !== undefined))
  if (own.length === 0) return heading + note(widget, 'a metric of AWS itself: nothing of it is recorded here')
  if (series.length === 0) return heading + note(widget, 'nothing happened')
  return heading + chart(widget, series)
}

function note({ width, height }: Widget, text: string): string {
  return `<text x="${(width * column) / 2}" y="${(height * row) / 2}" text-anchor="middle" fill="#879596">${escaped(text)}</text>`
}

function chart({ width, height, properties }: Widget, series: readonly Series[]): string {
  const area = { left: 40, top: 26, width: width * column - 56, height: height * row - 66 }
  const max = Math.max(...series.flatMap(({ values }) => values.map((one) => one ?? 0))) || 1
  const paths = series.map((one, i) => path(one, max, { ...area, colour: colours[i % colours.length] ?? '' }))
  const legend = series.slice(0, 6).map(({ label }, i) => key(label, i, { ...area, y: height * row - 18 }))
  const unit = properties.yAxis?.left?.label ?? ''
  const axis = `<path d="M${area.left} ${area.top}v${area.height}h${area.width}" fill="none" stroke="#aab7b8"/>`
  const scale = `<text x="${area.left - 4}" y="${area.top + 8}" text-anchor="end" fill="#545b64">${short(max)}</text>`
  const what = `<text x="${area.left + 4}" y="${area.top + 8}" fill="#879596">${escaped(unit)}</text>`
  return [axis, scale, what, ...paths, ...legend].join('')
}

interface Area {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly colour: string
}

function path({ values }: Series, max: number, { left, top, width, height, colour }: Area): string {
  const step = width / Math.max(1, values.length - 1)
  const places = values.flatMap((value, i) =>
    value === undefined ? [] : [`${(left + i * step).toFixed(1)} ${(top + height * (1 - value / max)).toFixed(1)}`],
  )
  const dots =
    places.length === 1
      ? `<circle cx="${places[0]?.split(' ')[0] ?? ''}" cy="${places[0]?.split(' ')[1] ?? ''}" r="2" fill="${colour}"/>`
      : ''
  return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>${dots}`
}

function key(
  label: string,
  i: number,
  { left, width, y }: { readonly left: number; readonly width: number; readonly y: number },
): string {
  const x = left + (i % 3) * (width / 3)
  const top = y + Math.floor(i / 3) * 12 - 6
  return `<rect x="${x}" y="${top - 7}" width="8" height="8" fill="${colours[i % colours.length]}"/><text x="${x + 11}" y="${top}">${escaped(label.slice(0, 24))}</text>`
}

function markdownText(markdown: string, { width }: Widget): string {
  const characters = Math.floor((width * column - 20) / 6)
  const lines = markdown.split('\n').flatMap((line) => wrapped(line, characters))
  return lines
    .map((line, i) => {
      const heading = /^(#+) (.*)/.exec(line)
      const size = heading === null ? 11 : heading[1] === '#' ? 17 : 14
      const plain = (heading?.[2] ?? line).replaceAll(/[*`]/g, '')
      return `<text x="10" y="${22 + i * 17}" font-size="${size}">${escaped(plain)}</text>`
    })
    .join('')
}

function wrapped(line: string, characters: number): readonly string[] {
  return line.match(new RegExp(`.{1,${characters}}(?:\\s|$)`, 'g')) ?? [line]
}

function short(value: number): string {
  return value >= 10 ? String(Math.round(value)) : value.toPrecision(2)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
