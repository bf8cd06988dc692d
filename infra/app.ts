import { Annotations, App, Tags } from 'aws-cdk-lib'
import { propsFrom, stageFrom, unreadAdvice, unreadNames } from './context.ts'
import { SetpointStack } from './setpoint-stack.ts'

/** `cdk deploy`: the reconcilers that come with the project. */
const app = new App()
const context = (name: string): unknown => app.node.tryGetContext(name)

const stage = stageFrom(context)
const stack = new SetpointStack(app, `Setpoint-${stage}`, {
  ...propsFrom(context),
  description: 'Setpoint: a Kubernetes-style control plane without a cluster',
})
Tags.of(stack).add('project', 'setpoint')
Tags.of(stack).add('stage', stage)
for (const name of unreadNames(Object.keys(app.node.getAllContext())))
  Annotations.of(stack).addWarningV2(`setpoint:unread-context-${name}`, unreadAdvice(name))
