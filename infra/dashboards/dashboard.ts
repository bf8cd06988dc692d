import { CfnMapping, Lazy, Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { oneMinute } from './metrics.ts'

/** What a dashboard shows, row by row. */
export type Rows = readonly (readonly cloudwatch.IWidget[])[]

interface DashboardContent {
  readonly rows: () => Rows
  /** What may be chosen above it. */
  readonly variables?: () => readonly object[]
}

/** A dashboard whose content is asked for when everything it may show is there. */
export function dashboard(
  scope: Construct,
  id: string,
  name: string,
  { rows, variables = () => [] }: DashboardContent,
): cloudwatch.CfnDashboard {
  const stack = Stack.of(scope)
  const body = (): string => {
    const chosen = variables()
    const content = { start: '-PT3H', ...(chosen.length > 0 && { variables: chosen }), widgets: widgetsOf(rows()) }
    return stack.toJsonString(content)
  }
  return new cloudwatch.CfnDashboard(scope, id, { dashboardName: name, dashboardBody: Lazy.string({ produce: body }) })
}

export function dashboardUrl(scope: Construct, name: string): string {
  const stack = Stack.of(scope)
  const { region, partition } = stack
  const known = stack.node.tryFindChild(consoles) as CfnMapping | undefined
  const mapping = known ?? new CfnMapping(stack, consoles, { mapping: consoleHosts, lazy: true })
  const host = mapping.findInMap(partition, 'host')
  return `https://${region}.${host}/cloudwatch/home?region=${region}#dashboards:name=${name}`
}

const consoles = 'DashboardConsoles'

/** By the partition. Source: the consoles' own addresses, each behind the name of a Region. */
const consoleHosts = {
  aws: { host: 'console.aws.amazon.com' },
  'aws-cn': { host: 'console.amazonaws.cn' },
  'aws-us-gov': { host: 'console.amazonaws-us-gov.com' },
  'aws-eusc': { host: 'console.amazonaws-eusc.eu' },
}

function widgetsOf(rows: Rows): readonly unknown[] {
  const column = new cloudwatch.Column(...rows.map((row) => new cloudwatch.Row(...row)))
  column.position(0, 0)
  return column.toJson() as readonly unknown[]
}

/** A graph: what its title asks, its lines answer. */
export interface GraphLines {
  readonly title: string
  readonly lines: readonly cloudwatch.IMetric[]
  /** Of the axis. */
  readonly unit: string
  /** In columns, of 24. */
  readonly width?: number
  readonly stacked?: boolean
  /** Where it becomes a matter for somebody. */
  readonly limit?: { readonly value: number; readonly label: string }
}

export function graph({ title, lines, unit, width = 8, stacked = false, limit }: GraphLines): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({
    title,
    left: [...lines],
    leftYAxis: { label: unit, min: 0, showUnits: false },
    width,
    height: 6,
    stacked,
    period: oneMinute,
    ...(limit && { leftAnnotations: [{ ...limit, color: cloudwatch.Color.RED }] }),
  })
}

/** Text over the whole width. */
export function textWidget(height: number, markdown: string): cloudwatch.TextWidget {
  return new cloudwatch.TextWidget({ markdown, width: 24, height })
}
