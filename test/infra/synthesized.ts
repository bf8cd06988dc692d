import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch'
import { ControlPlane, type ControlPlaneProps } from '../../infra/constructs/control-plane.ts'
import { Controller, type ControllerProps } from '../../infra/constructs/controller.ts'
import { chosenController } from '../../infra/dashboards/controller-page.ts'
import { isLong } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Widget } from './preview/svg.ts'

/** A stack with a control plane and a Controller for each reconciler of the fixtures. */
export interface Deployed {
  readonly stack: Stack
  readonly controlPlane: ControlPlane
  readonly controllers: Readonly<Record<'shelf' | 'lamp', Controller>>
  readonly template: () => Template
}

export const fixtures = 'test/infra/fixtures/reconcilers.ts'
export const admin = 'arn:aws:iam::123456789012:role/Admin'

/**
 * An app whose templates are only looked at: nothing is bundled. What it writes goes with this process.
 * CloudFormation's own checks take most of a synthesis: the short form makes them in nag.test.ts only, the long form
 * everywhere.
 */
export function unbundledApp(): App {
  written ??= temporaryDirectory('synthesized').path
  const outdir = mkdtempSync(join(written, 'app-'))
  return new App({
    context: { 'aws:cdk:bundling-stacks': [] },
    outdir,
    builtinCloudFormationValidation: isLong,
    stackTraces: false,
    treeMetadata: false,
  })
}

let written: string | undefined

export function deployed(
  props: Partial<ControlPlaneProps> = {},
  ofShelves: Partial<ControllerProps> = {},
  stack = new Stack(unbundledApp(), 'Test'),
): Deployed {
  const controlPlane = new ControlPlane(stack, 'ControlPlane', {
    reconcilers: fixtures,
    adminPrincipals: [admin],
    ...props,
  })
  const controllers = {
    shelf: new Controller(stack, 'Shelves', { controlPlane, reconciler: 'shelf', isolated: true, ...ofShelves }),
    lamp: new Controller(stack, 'Lamps', { controlPlane, reconciler: 'lamp', isolated: true }),
  }
  // What else the list has shares the function of the control plane.
  for (const { name } of controlPlane.reconcilers)
    if (!(name in controllers)) new Controller(stack, name, { controlPlane, reconciler: name })
  return { stack, controlPlane, controllers, template: () => templateOf(stack) }
}

/** As CloudFormation makes it with the parameters as they are at first: no table was restored. */
export function templateOf(stack: Stack): Template {
  return Template.fromJSON(decided(Template.fromStack(stack).toJSON()) as Record<string, unknown>)
}

/** With the second of two values that a condition chooses from. */
function decided(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decided)
  if (typeof value !== 'object' || value === null) return value
  const { 'Fn::If': choice } = value as { readonly 'Fn::If'?: readonly unknown[] }
  if (choice !== undefined) return decided(choice[2])
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, decided(one)]))
}

type Resource = { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }

/** The resources of a type, by their logical ids. */
export function resourcesOf(template: Template, type: string): Readonly<Record<string, Resource>> {
  return template.findResources(type) as Record<string, Resource>
}

/** That a template has a resource with these properties, and perhaps more. */
export function expectProperties(template: Template, type: string, properties: object): void {
  template.hasResourceProperties(type, properties)
}

/** The same, with what stands beside the properties. */
export function expectResource(template: Template, type: string, resource: object): void {
  template.hasResource(type, resource)
}

/** What a dashboard shows, as CloudWatch gets it, with every reference as its logical id, and a controller chosen. */
export function widgetsOf(
  { stack, template }: Pick<Deployed, 'stack' | 'template'>,
  dashboard: CfnDashboard | undefined,
  chosen = 'shelf',
): readonly Widget[] {
  if (dashboard === undefined) throw new Error('there is no such dashboard')
  const id = stack.getLogicalId(dashboard)
  const { DashboardBody: body } = resourcesOf(template(), 'AWS::CloudWatch::Dashboard')[id]?.Properties ?? {}
  return (JSON.parse(textOf(body).replaceAll(chosenController, chosen)) as { readonly widgets: readonly Widget[] })
    .widgets
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { 'Fn::Join': joined, ...reference } = value as { readonly 'Fn::Join'?: readonly [string, readonly unknown[]] }
  return joined?.[1].map(textOf).join('') ?? (JSON.stringify(Object.values(reference)[0]) ?? '').replaceAll('"', '')
}
