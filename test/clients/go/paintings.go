package main

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

const group = "clients.setpoint.dev"

// coatsNote keeps in v1 what only v2 has a field for.
const coatsNote = "clients.setpoint.dev/coats"

var versionOne, versionTwo = schema.GroupVersion{Group: group, Version: "v1"}, schema.GroupVersion{Group: group, Version: "v2"}

// Painting is a painting of v1, in which the controller works.
type Painting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PaintingSpec   `json:"spec,omitempty"`
	Status            PaintingStatus `json:"status,omitempty"`
}

type PaintingSpec struct {
	Color string `json:"color,omitempty"`
}

type PaintingStatus struct {
	Color string `json:"color,omitempty"`
	By    string `json:"by,omitempty"`
}

// PaintingV2 is a painting of v2, which is stored.
type PaintingV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PaintingV2Spec `json:"spec,omitempty"`
	Status            PaintingStatus `json:"status,omitempty"`
}

type PaintingV2Spec struct {
	Pigment Pigment `json:"pigment,omitempty"`
}

type Pigment struct {
	Name  string `json:"name,omitempty"`
	Coats int64  `json:"coats,omitempty"`
}

type PaintingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Painting `json:"items"`
}

type PaintingV2List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PaintingV2 `json:"items"`
}

func (p *Painting) DeepCopyObject() runtime.Object {
	other := *p
	p.ObjectMeta.DeepCopyInto(&other.ObjectMeta)
	return &other
}

func (p *PaintingV2) DeepCopyObject() runtime.Object {
	other := *p
	p.ObjectMeta.DeepCopyInto(&other.ObjectMeta)
	return &other
}

func (l *PaintingList) DeepCopyObject() runtime.Object {
	other := PaintingList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, item := range l.Items {
		other.Items = append(other.Items, *item.DeepCopyObject().(*Painting))
	}
	return &other
}

func (l *PaintingV2List) DeepCopyObject() runtime.Object {
	other := PaintingV2List{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, item := range l.Items {
		other.Items = append(other.Items, *item.DeepCopyObject().(*PaintingV2))
	}
	return &other
}

// Hub makes v2 the version that others are converted to and from.
func (p *PaintingV2) Hub() {}

func (p *Painting) ConvertTo(hub conversion.Hub) error {
	other := hub.(*PaintingV2)
	p.ObjectMeta.DeepCopyInto(&other.ObjectMeta)
	other.Spec.Pigment.Name, other.Status = p.Spec.Color, p.Status
	note, noted := other.Annotations[coatsNote]
	if !noted {
		return nil
	}
	delete(other.Annotations, coatsNote)
	coats, err := strconv.ParseInt(note, 10, 64)
	if err != nil {
		return fmt.Errorf("the annotation %s is no number: %w", coatsNote, err)
	}
	other.Spec.Pigment.Coats = coats
	return nil
}

func (p *Painting) ConvertFrom(hub conversion.Hub) error {
	other := hub.(*PaintingV2)
	other.ObjectMeta.DeepCopyInto(&p.ObjectMeta)
	p.Spec.Color, p.Status = other.Spec.Pigment.Name, other.Status
	if other.Spec.Pigment.Coats == 0 {
		return nil
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[coatsNote] = strconv.FormatInt(other.Spec.Pigment.Coats, 10)
	return nil
}

func paintingScheme(scheme *runtime.Scheme) *runtime.Scheme {
	scheme.AddKnownTypeWithName(versionOne.WithKind("Painting"), &Painting{})
	scheme.AddKnownTypeWithName(versionOne.WithKind("PaintingList"), &PaintingList{})
	scheme.AddKnownTypeWithName(versionTwo.WithKind("Painting"), &PaintingV2{})
	scheme.AddKnownTypeWithName(versionTwo.WithKind("PaintingList"), &PaintingV2List{})
	metav1.AddToGroupVersion(scheme, versionOne)
	metav1.AddToGroupVersion(scheme, versionTwo)
	return scheme
}
