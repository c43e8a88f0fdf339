#include "bench_engine.h"

#ifdef TALUS_HAS_BULLET
// Bullet, with its defaults: compound boxes greedily merged, one static compound as terrain.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <btBulletDynamicsCommon.h>
#pragma GCC diagnostic pop
#include <time.h>

namespace talus::bench {

namespace {

class BulletEngine final : public Engine {
 public:
    BulletEngine(const scenes::RigidScene& scene, const EngineOptions& options)
        : scene_(scene),
          dispatcher_(&configuration_),
          world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
        world_.setGravity({0, -9.81f, 0});
        add_ground();
        for (const scenes::RigidPiece& p : scene.pieces) {
            auto* shape = make_shape(p);
            btVector3 inertia;
            const float mass = scene.density * float(p.cubes.size());
            shape->calculateLocalInertia(mass, inertia);
            const btTransform at(btQuaternion(p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w),
                                 btVector3(float(p.center.x), float(p.center.y), float(p.center.z)));
            auto* state = new btDefaultMotionState(at);
            btRigidBody::btRigidBodyConstructionInfo info(mass, state, shape, inertia);
            info.m_friction = scene.friction;
            auto* body = new btRigidBody(info);
            if (!options.sleep) body->setActivationState(DISABLE_DEACTIVATION);
            world_.addRigidBody(body);
            bodies_.push_back(body);
        }
    }
    void step(float dt) override { world_.stepSimulation(dt, 0); }
    PiecePose pose(std::size_t i) override {
        const btTransform& t = bodies_[i]->getWorldTransform();
        const btQuaternion q = t.getRotation();
        return {{t.getOrigin().x(), t.getOrigin().y(), t.getOrigin().z()}, {q.x(), q.y(), q.z(), q.w()}};
    }
    bool asleep(std::size_t i) override { return !bodies_[i]->isActive(); }
    double energy(std::size_t i) override {
        const btRigidBody* b = bodies_[i];
        const btVector3 w = b->getWorldTransform().getBasis().transpose() * b->getAngularVelocity();
        const btVector3 inverse = b->getInvInertiaDiagLocal();
        const double m = 1 / double(b->getInvMass());
        double e = m * (0.5 * double(b->getLinearVelocity().length2()) +
                        9.81 * double(b->getWorldTransform().getOrigin().y()));
        for (int k = 0; k < 3; k++) e += 0.5 * double(w[k] * w[k]) / double(inverse[k]);
        return e;
    }
    double edit(std::size_t i, const scenes::RigidPiece& now) override {
        timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        btRigidBody* body = bodies_[i];
        world_.removeRigidBody(body);
        auto* shape = make_shape(now);
        btVector3 inertia;
        const float mass = scene_.density * float(now.cubes.size());
        shape->calculateLocalInertia(mass, inertia);
        delete body->getCollisionShape();
        body->setCollisionShape(shape);
        body->setMassProps(mass, inertia);
        world_.addRigidBody(body);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        return double(b.tv_sec - a.tv_sec) * 1e3 + double(b.tv_nsec - a.tv_nsec) * 1e-6;
    }
    void wake_all_for_good() override {
        for (btRigidBody* b : bodies_) b->forceActivationState(DISABLE_DEACTIVATION);
    }

 private:
    btCollisionShape* make_shape(const scenes::RigidPiece& p) {
        const BodyShape shape = scenes::shape_of(p, scene_.density);
        auto* compound = new btCompoundShape();
        const Vec3 middle = to_float(p.local_center());
        for (const ShapeBox& b : shape.boxes()) {
            const Vec3 h = (b.box.max - b.box.min) * 0.5f, c = (b.box.max + b.box.min) * 0.5f - middle;
            btTransform at;
            at.setIdentity();
            at.setOrigin({c.x, c.y, c.z});
            compound->addChildShape(at, new btBoxShape({h.x, h.y, h.z}));
        }
        return compound;
    }
    void add_ground() {
        auto* compound = new btCompoundShape();
        auto add = [&](Vec3 lo, Vec3 hi) {
            const Vec3 h = (hi - lo) * 0.5f, c = (hi + lo) * 0.5f;
            btTransform at;
            at.setIdentity();
            at.setOrigin({c.x, c.y, c.z});
            compound->addChildShape(at, new btBoxShape({h.x, h.y, h.z}));
        };
        if (scene_.flat) {
            const float y = float(scene_.ground);
            add({-200, y - 10, -200}, {200, y, 200});
        } else {
            scenes::RigidPiece all;
            for (int z = 0; z < scene_.columns_z; z++)
                for (int x = 0; x < scene_.columns_x; x++)
                    for (int y = scene_.bottom; y < scene_.tops[std::size_t(z * scene_.columns_x + x)]; y++)
                        all.cubes.push_back({x + scene_.origin_x, y, z + scene_.origin_z});
            const BodyShape shape = scenes::shape_of(all, 1);
            for (const ShapeBox& b : shape.boxes()) add(b.box.min, b.box.max);
        }
        btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, compound);
        info.m_friction = scene_.friction;
        world_.addRigidBody(new btRigidBody(info));
    }

    // Bodies and shapes live as long as the program: it runs one scene.
    scenes::RigidScene scene_;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_;
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_;
    std::vector<btRigidBody*> bodies_;
};

}  // namespace

std::unique_ptr<Engine> make_bullet_engine(const scenes::RigidScene& scene, const EngineOptions& options) {
    return std::make_unique<BulletEngine>(scene, options);
}

}  // namespace talus::bench
#else
namespace talus::bench {
std::unique_ptr<Engine> make_bullet_engine(const scenes::RigidScene&, const EngineOptions&) {
    return nullptr;
}
}  // namespace talus::bench
#endif
