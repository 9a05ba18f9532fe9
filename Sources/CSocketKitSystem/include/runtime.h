// Swift runtime functions that the compiler calls in every program. No logic.
#pragma once
// Retains the object. Returns NULL once its deinit has started. The caller must hold an unowned reference, which keeps
// its memory.
void *swift_tryRetain(void *object);
void swift_release(void *object);
// An unowned reference keeps an object's memory but does not keep the object alive.
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);
