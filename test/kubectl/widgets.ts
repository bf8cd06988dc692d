/** A kind with a bit of everything, which no reconciler looks after: its status is the tests' own. */
export const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.test.setpoint.dev }
spec:
  group: test.setpoint.dev
  scope: Namespaced
  names: { kind: Widget, plural: widgets, singular: widget, shortNames: [wd], categories: [all, things] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
      selectableFields: [{ jsonPath: .spec.color }]
      additionalPrinterColumns:
        - { name: Size, type: integer, jsonPath: .spec.size, description: How big it is. }
        - { name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status' }
        - { name: Color, type: string, jsonPath: .spec.color, priority: 1 }
        - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
      schema:
        openAPIV3Schema:
          type: object
          description: Something to have in several sizes.
          required: [spec]
          properties:
            spec:
              type: object
              x-kubernetes-validations:
                - rule: "!has(self.note) || self.note != 'forbidden'"
                  messageExpression: "'a Widget of size ' + string(self.size) + ' has no such note'"
                  fieldPath: .note
                  reason: FieldValueForbidden
                - { rule: "!has(oldSelf.color) || (has(self.color) && (self.color != 'red' || oldSelf.color != 'blue'))", message: blue never becomes red }
              properties:
                size: { type: integer, minimum: 0, maximum: 100, default: 1, description: How big it is. }
                color: { type: string, enum: [red, green, blue] }
                note: { type: string, maxLength: 20 }
                replicas: { type: integer, format: int32 }
                tags: { type: array, items: { type: string }, x-kubernetes-list-type: set }
                ports:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items:
                    type: object
                    required: [name]
                    properties: { name: { type: string }, port: { type: integer } }
                settings: { type: object, additionalProperties: { type: string } }
            status:
              type: object
              properties:
                phase: { type: string }
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [type, status]
                    properties:
                      type: { type: string }
                      status: { type: string }
                      reason: { type: string }
                      message: { type: string }
                      lastTransitionTime: { type: string, format: date-time }
`

/** A Widget as YAML. */
export function widget(
  name: string,
  options: { readonly spec?: string; readonly labels?: string; readonly namespace?: string } = {},
): string {
  const { spec = '{}', labels, namespace = 'default' } = options
  return `apiVersion: test.setpoint.dev/v1
kind: Widget
metadata:
  name: ${name}
  namespace: ${namespace}
${labels === undefined ? '' : `  labels: ${labels}\n`}spec: ${spec}
`
}

/** Several manifests in one stream. */
export function manifests(...documents: readonly string[]): string {
  return documents.join('---\n')
}
