/** What CDK apps deploy control planes with: `import { ControlPlane, Controller } from 'setpoint/cdk'`. */
export { ControlPlane } from './constructs/control-plane.ts'
export type { ControlPlaneProps, PlaneFunctions, TokenIssuer } from './constructs/control-plane.ts'
export { Controller } from './constructs/controller.ts'
export type { ControllerProps } from './constructs/controller.ts'
export type { ControlApiOptions } from './constructs/control-api.ts'
export type { ObjectTableOptions } from './constructs/object-table.ts'
export { kubectlSetup } from './constructs/kubectl-setup.ts'
export { dashboardUrl } from './dashboards/dashboard.ts'
