import { App, CfnOutput, Stack } from 'aws-cdk-lib'
import { Controller, ControlPlane, kubectlSetup } from 'setpoint/cdk'

const app = new App()
const stack = new Stack(app, 'Greetings')
const controlPlane = new ControlPlane(stack, 'ControlPlane', {
  reconcilers: 'reconcilers.ts',
  adminPrincipals: ['arn:aws:iam::123456789012:role/Admin'],
})
new Controller(stack, 'Greeter', { controlPlane, reconciler: 'greeting' })
new CfnOutput(stack, 'KubectlSetup', { value: kubectlSetup(controlPlane) })
