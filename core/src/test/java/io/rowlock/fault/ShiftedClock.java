package io.rowlock.fault;

import io.rowlock.testkit.postgres.ChildJvmOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.time.Clock;
import java.time.Duration;
import java.util.Calendar;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * An agent that puts the clock of a child JVM wrong: to each answer of {@code System.currentTimeMillis()} and of {@code
 * java.time}, wherever it is asked but deep inside of the JDK, what a system property says is added. The property may be changed while
 * the JVM runs; {@code System.nanoTime()} stays as it is, as with a real clock that somebody sets.
 */
public final class ShiftedClock {
    private static final String OFFSET = "fault.clock-offset";
    private static final Set<String> OF_JDK = Set.of(
            "java/time/Clock",
            "java/time/Clock$SystemClock",
            "java/util/Date",
            "java/util/Calendar",
            "java/util/GregorianCalendar");

    private ShiftedClock() {}

    /** Has a child start with a clock that is wrong by so much; an empty jar names the agent. */
    static void of(ChildJvmOptions jvm, Duration offset) {
        Manifest manifest = new Manifest();
        Attributes names = manifest.getMainAttributes();
        names.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        names.putValue("Premain-Class", ShiftedClock.class.getName());
        names.putValue("Can-Retransform-Classes", "true");
        try {
            Path jar = Files.createTempFile("clock", ".jar");
            jar.toFile().deleteOnExit();
            try (OutputStream file = Files.newOutputStream(jar)) {
                new JarOutputStream(file, manifest).close();
            }
            jvm.jvmArguments("-javaagent:" + jar).property(OFFSET, Long.toString(offset.toMillis()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets the clock of this JVM, which has the agent. */
    static void set(Duration offset) {
        System.setProperty(OFFSET, Long.toString(offset.toMillis()));
    }

    public static void premain(@Nullable String none, Instrumentation instrumentation) throws Exception {
        instrumentation.addTransformer(new Shifting(), true);
        instrumentation.retransformClasses(
                Clock.class,
                Class.forName("java.time.Clock$SystemClock"),
                Date.class,
                Calendar.class,
                GregorianCalendar.class);
    }

    private static final class Shifting implements ClassFileTransformer {
        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                String name,
                @Nullable Class<?> before,
                ProtectionDomain domain,
                byte[] bytes) {
            if (loader == null ? !OF_JDK.contains(name) : name.startsWith("net/bytebuddy/")) {
                return null;
            }
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new ShiftedClass(writer, name.equals("java/time/Clock")), 0);
            return writer.toByteArray();
        }
    }

    private static final class ShiftedClass extends ClassVisitor {
        private final boolean clock;

        ShiftedClass(ClassVisitor next, boolean clock) {
            super(Opcodes.ASM9, next);
            this.clock = clock;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] exceptions) {
            boolean instant = clock && name.equals("currentInstant");
            return new ShiftedMethod(super.visitMethod(access, name, type, signature, exceptions), instant);
        }
    }

    private static final class ShiftedMethod extends MethodVisitor {
        private final boolean instant;

        ShiftedMethod(MethodVisitor next, boolean instant) {
            super(Opcodes.ASM9, next);
            this.instant = instant;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean ofInterface) {
            super.visitMethodInsn(opcode, owner, name, type, ofInterface);
            if (owner.equals("java/lang/System") && name.equals("currentTimeMillis")) {
                pushOffset();
                visitInsn(Opcodes.LADD);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (instant && opcode == Opcodes.ARETURN) {
                pushOffset();
                super.visitMethodInsn(
                        Opcodes.INVOKEVIRTUAL, "java/time/Instant", "plusMillis", "(J)Ljava/time/Instant;", false);
            }
            super.visitInsn(opcode);
        }

        private void pushOffset() {
            visitLdcInsn(OFFSET);
            visitLdcInsn(0L);
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, "java/lang/Long", "getLong", "(Ljava/lang/String;J)Ljava/lang/Long;", false);
            super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Long", "longValue", "()J", false);
        }
    }
}
