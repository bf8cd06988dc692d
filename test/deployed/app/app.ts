import { App, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Controller, ControlPlane, kubectlSetup } from 'setpoint/cdk'

/** An app of somebody else's; `-c list=…` is the module with its reconcilers. */
const app = new App()
const stack = new Stack(app, 'Own')
const controlPlane = new ControlPlane(stack, 'ControlPlane', {
  reconcilers: String(app.node.tryGetContext('list')),
  adminPrincipals: [String(app.node.tryGetContext('admin'))],
  removalPolicy: RemovalPolicy.DESTROY,
  runHistory: 'all',
})
const assumes = [String(app.node.tryGetContext('tenant'))]
for (const { name } of controlPlane.reconcilers)
  new Controller(stack, name, { controlPlane, reconciler: name, ...(name === 'counter' && { assumes }) })
new CfnOutput(stack, 'KubectlSetup', { value: kubectlSetup(controlPlane) })
